import Glibc

// Random schedules of the whole scheduler, as many as one likes:  model COUNT [FIRST-SEED] [CACHE-DIRECTORY [FROZEN-DIRECTORY]]
let arguments = CommandLine.arguments
guard arguments.count > 1, let count = UInt64(arguments[1]) else {
  print("usage: \(arguments[0]) COUNT [FIRST-SEED] [CACHE-DIRECTORY [FROZEN-DIRECTORY]]")
  exit(2)
}
let first = arguments.count > 2 ? UInt64(arguments[2]) ?? 1 : 1
let model = try SchedulerModel(
  cache: arguments.count > 3 ? arguments[3] : nil, frozen: arguments.count > 4 ? arguments[4] : nil)
do throws(SchedulerModel.Fault) {
  let begin = ContinuousClock.now
  for seed in first..<first + count {
    try model.run(seed)
    if (seed + 1 - first) % 100_000 == 0 {
      print("\(seed + 1 - first) schedules, \(ContinuousClock.now - begin)")
      fflush(nil)
    }
  }
  let happened = model.happened
  let handlesLeft = model.close()
  print(happened)
  print(
    "\(count) schedules, \(model.operationsRun) operations, \(handlesLeft) handles left open: one ending each, no budget leaked"
  )
  exit(handlesLeft == 0 ? 0 : 1)
} catch {
  print("\(error)")
  fflush(nil)
  _exit(1)
}
