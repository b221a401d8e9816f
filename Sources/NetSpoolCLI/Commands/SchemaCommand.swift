import ArgumentParser

/// `netspool schema`: what the lines of a results file may have.
struct SchemaCommand: StatusCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of the lines of a results file.")

  func run(_ console: Console) throws -> JobStatus {
    try StandardOutput.write(Self.text)
    return .allDone
  }

  static let text = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "A line of a results file of netspool fetch",
      "type": "object",
      "required": ["url", "outcome", "bytes", "attempts"],
      "properties": {
        "url": {"type": "string", "description": "As it stood in the list; user and password masked."},
        "output": {"type": "string", "description": "The file's name in the output folder or the tar."},
        "tar": {"type": "string", "description": "The name of the tar that has it."},
        "outcome": {"enum": ["done", "failed", "failed-for-now"]},
        "status": {"type": "integer", "minimum": 100, "maximum": 999},
        "bytes": {"type": "integer", "minimum": 0, "description": "Of the body."},
        "source": {"enum": ["network", "cache", "revalidated"]},
        "error": {"type": "string", "description": "The library's code."},
        "reason": {"type": "string"},
        "finalURL": {"type": "string", "description": "Which URL answered, after redirects."},
        "contentType": {"type": "string"},
        "etag": {"type": "string"},
        "width": {"type": "integer", "minimum": 1, "description": "Of a thumbnail, in pixels."},
        "height": {"type": "integer", "minimum": 1},
        "format": {"enum": ["webp", "jpeg", "avif", "png"]},
        "sourceBytes": {"type": "integer", "minimum": 1, "description": "Of the picture it was made of."},
        "thumbnail": {"type": "string", "description": "What was asked for: '256 contain webp'."},
        "attempts": {"type": "integer", "minimum": 0},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "ended": {"type": "string", "format": "date-time"},
        "timings": {
          "type": "object",
          "description": "Milliseconds; 0 for what did not happen.",
          "properties": {
            "queue": {"type": "number", "description": "Waiting for a slot."},
            "dns": {"type": "number"},
            "connect": {"type": "number"},
            "tls": {"type": "number"},
            "firstByte": {"type": "number"},
            "total": {"type": "number"}
          }
        }
      }
    }

    """
}
