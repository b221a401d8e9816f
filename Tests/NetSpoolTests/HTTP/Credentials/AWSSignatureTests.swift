import Testing

@testable import NetSpool

/// The examples that Amazon publishes: the suite of Signature Version 4, and those of S3's documentation.
@Suite("Signature Version 4")
struct AWSSignatureTests {
  private static let suite = AWSAccount(
    accessKey: "AKIDEXAMPLE", secretKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1", service: "service")
  private static let storage = AWSAccount(
    accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1", service: "s3")

  private static func signature(
    _ account: AWSAccount, _ method: String, _ target: String, _ fields: Headers = [:], body: String = ""
  ) -> Substring? {
    let signature = AWSSignature(
      account: account, method: method, target: target,
      authority: account.isStorage ? "examplebucket.s3.amazonaws.com" : "example.amazonaws.com",
      fields: fields,
      payload: Array(body.utf8), stamp: account.isStorage ? "20130524T000000Z" : "20150830T123600Z")
    return signature.added.first("Authorization")?.split(separator: "Signature=").last
  }

  @Test(arguments: [
    ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    (
      "GET", "/?Param2=value2&Param1=value1",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
    ),
    ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
  ]) func `is the one of the published suite`(_ method: String, _ target: String, _ expected: String) {
    #expect(Self.signature(Self.suite, method, target).map(String.init) == expected)
  }

  @Test(arguments: [
    ("/?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ("/?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ]) func `is the one of the documentation of S3`(_ target: String, _ expected: String) {
    #expect(Self.signature(Self.storage, "GET", target).map(String.init) == expected)
  }

  @Test func `covers a range, a date and a body`() {
    #expect(
      Self.signature(Self.storage, "GET", "/test.txt", ["Range": "bytes=0-9"])
        == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    #expect(
      Self.signature(
        Self.storage, "PUT", "/test$file.text",
        ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
        body: "Welcome to Amazon S3.") == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  }

  @Test func `names the time, the hash of the body and the token`() {
    var account = Self.storage
    account.sessionToken = Secret("lent")
    let added = AWSSignature(
      account: account, method: "PUT", target: "/a", authority: "a", fields: [:], payload: nil,
      stamp: "20130524T000000Z"
    ).added
    #expect(added.first("X-Amz-Date") == "20130524T000000Z")
    #expect(added.first("X-Amz-Content-Sha256") == "UNSIGNED-PAYLOAD")
    #expect(added.first("X-Amz-Security-Token") == "lent")
    #expect(
      added.first("Authorization")?.contains(
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") == true)
  }

  @Test(arguments: [
    ("20130524T000000Z", true), ("", false), ("20130524T000000", false), ("2013-05-24T00:00Z", false),
    ("20130524t000000Z", false), ("2013052 T000000Z", false),
  ]) func `knows a time`(_ text: String, _ isStamp: Bool) {
    #expect(AWSSignature.isStamp(text) == isStamp)
    #expect(AWSSignature.stamp(1_369_353_600) == "20130524T000000Z")
  }
}
