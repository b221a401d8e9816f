#pragma once

/// How many tests run at once: three for each core, unless the environment says so. Nothing is called.
