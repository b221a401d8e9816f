#if !__has_include(<vips/vips.h>)
#error "the trait Images of NetSpool needs libvips and its development files: run CSupport/install --images"
#endif
#include <stdbool.h>
#include <vips/vips.h>
#if VIPS_MAJOR_VERSION < 8 || (VIPS_MAJOR_VERSION == 8 && VIPS_MINOR_VERSION < 13)
#error "the trait Images of NetSpool needs libvips 8.13 or later, which can block untrusted loaders"
#endif

// Swift calls no function with a variable list of arguments, and libvips has few others: these wrappers name every
// option that NetSpool sets. They could go if libvips offered its operations with plain arguments.
#pragma clang assume_nonnull begin

enum { CNETSPOOL_VIPS_WEBP, CNETSPOOL_VIPS_JPEG, CNETSPOOL_VIPS_AVIF, CNETSPOOL_VIPS_PNG, CNETSPOOL_VIPS_RGBA };

/// What ends work on a picture before its time: asked every few rows, on whatever thread libvips works on.
typedef struct {
  bool (*is_over)(void *context);
  void *context;
} cnetspool_vips_guard;

/// What is to become of a picture.
typedef struct {
  int side;
  bool is_cropped;
  int format;
  int quality;
  double pixels_max;
} cnetspool_vips_order;

/// What cnetspool_vips_make answers.
enum { CNETSPOOL_VIPS_MADE = 0, CNETSPOOL_VIPS_FAILED = -1, CNETSPOOL_VIPS_TOO_LARGE = -2 };

/// A picture that was made: `bytes` are the caller's, for cnetspool_vips_free.
typedef struct {
  void *_Nullable bytes;
  size_t count;
  int width;
  int height;
} cnetspool_vips_picture;

static inline void cnetspool_vips_say_nothing(
    const char *_Nullable domain, GLogLevelFlags level, const char *_Nullable text, void *_Nullable context) {}

/// Once in a process, before anything else; 0 is success. Loaders that libvips does not hold fit for foreign files are
/// shut, each picture keeps to the thread that asked for it, nothing is remembered, and warnings are for no terminal.
static inline int cnetspool_vips_start(void) {
  if (vips_init("netspool") != 0) return -1;
  vips_block_untrusted_set(TRUE);
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, cnetspool_vips_say_nothing, NULL);
  return 0;
}

static inline void cnetspool_vips_check(
    VipsImage *image, VipsProgress *_Nullable progress, cnetspool_vips_guard *guard) {
  if (guard->is_over(guard->context)) vips_image_set_kill(image, TRUE);
}

/// By the profile's header (ICC.1, 7.2.6): of as many colours as the picture. libvips takes the others for transparency.
static inline bool cnetspool_vips_has_profile(VipsImage *image) {
  const void *profile = NULL;
  size_t count = 0;
  int colours = vips_image_get_bands(image) - (vips_image_hasalpha(image) ? 1 : 0);
  const char *space = colours == 1 ? "GRAY" : colours == 3 ? "RGB " : "CMYK";
  return vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &count) == 0 && count >= 20 &&
         memcmp((const char *)profile + 16, space, 4) == 0;
}

/// What has a profile, and 16 bits, CMYK, Lab and whatever else, becomes sRGB of 8 bits; grey without a profile stays grey.
static inline int cnetspool_vips_to_srgb(VipsImage *image, VipsImage *_Nullable *_Nonnull plain) {
  VipsInterpretation kind = vips_image_guess_interpretation(image);
  // A profile that fits nothing, as damaged files have them, counts as none.
  if (cnetspool_vips_has_profile(image) &&
      vips_icc_transform(image, plain, "srgb", "embedded", TRUE, NULL) == 0) return 0;
  if (kind == VIPS_INTERPRETATION_sRGB || kind == VIPS_INTERPRETATION_B_W) return vips_copy(image, plain, NULL);
  return vips_colourspace(image, plain, VIPS_INTERPRETATION_sRGB, NULL);
}

/// The same without any metadata: some encoders of libvips write what they were told to leave out. Gives `image` up.
static inline VipsImage *_Nullable cnetspool_vips_plain(VipsImage *image) {
  VipsImage *colour = NULL, *plain = NULL;
  if (cnetspool_vips_to_srgb(image, &colour) == 0) {
    if (vips_copy(colour, &plain, NULL) != 0) plain = NULL;
    g_object_unref(colour);
  }
  g_object_unref(image);
  if (plain == NULL) return NULL;
  char **fields = vips_image_get_fields(plain);
  for (char **field = fields; *field != NULL; field++) vips_image_remove(plain, *field);
  g_strfreev(fields);
  return plain;
}

/// Rows of 4 bytes for each pixel, without gaps.
static inline int cnetspool_vips_unpack(VipsImage *image, cnetspool_vips_picture *made) {
  VipsImage *colour = NULL, *whole = NULL;
  if (vips_colourspace(image, &colour, VIPS_INTERPRETATION_sRGB, NULL) != 0) return -1;
  int status = vips_image_hasalpha(colour) ? vips_copy(colour, &whole, NULL) : vips_addalpha(colour, &whole, NULL);
  if (status == 0) made->bytes = vips_image_write_to_memory(whole, &made->count);
  if (whole != NULL) g_object_unref(whole);
  g_object_unref(colour);
  return made->bytes != NULL && made->count == (size_t)made->width * (size_t)made->height * 4 ? 0 : -1;
}

static inline int cnetspool_vips_encode(
    VipsImage *image, const cnetspool_vips_order *order, cnetspool_vips_picture *made) {
  void **bytes = &made->bytes;
  size_t *count = &made->count;
  switch (order->format) {
  case CNETSPOOL_VIPS_WEBP:
    return vips_webpsave_buffer(image, bytes, count, "Q", order->quality, "strip", TRUE, NULL);
  case CNETSPOOL_VIPS_JPEG: {
    // What shows through is white, as on a page.
    VipsArrayDouble *white = vips_array_double_newv(1, 255.0);
    int status = vips_jpegsave_buffer(
        image, bytes, count, "Q", order->quality, "strip", TRUE, "background", white, NULL);
    vips_area_unref(VIPS_AREA(white));
    return status;
  }
  case CNETSPOOL_VIPS_AVIF:
    return vips_heifsave_buffer(
        image, bytes, count, "Q", order->quality, "strip", TRUE, "effort", 2,
        "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1, NULL);
  case CNETSPOOL_VIPS_RGBA: return cnetspool_vips_unpack(image, made);
  case CNETSPOOL_VIPS_PNG: return vips_pngsave_buffer(image, bytes, count, "strip", TRUE, NULL);
  default: return -1;
  }
}

/// What the decoder itself is about to unfold: a GIF's frame may be larger than its header says, and a container may hold
/// another picture than the one that it describes. Zero sides where it cannot tell: whoever decodes says so.
typedef struct { double width, height; } cnetspool_vips_size;

static inline cnetspool_vips_size cnetspool_vips_size_of(const void *bytes, size_t count) {
  VipsImage *head = vips_image_new_from_buffer(bytes, count, "", NULL);
  if (head == NULL) return (cnetspool_vips_size){0, 0};
  cnetspool_vips_size size = {vips_image_get_width(head), vips_image_get_height(head)};
  g_object_unref(head);
  return size;
}

/// Decodes as little as the size needs, turns the picture as its EXIF says, brings its colours to sRGB, and encodes it
/// without metadata. Never larger than it was. 0 is success.
static inline int cnetspool_vips_make(
    const void *bytes, size_t count, const cnetspool_vips_order *order, cnetspool_vips_guard *guard,
    cnetspool_vips_picture *made) {
  VipsImage *image = NULL;
  cnetspool_vips_size size = cnetspool_vips_size_of(bytes, count);
  if (size.width * size.height > order->pixels_max) return CNETSPOOL_VIPS_TOO_LARGE;
  int side = order->side;
  // The square of a small picture is as large as its shorter side.
  if (order->is_cropped && size.width > 0) side = (int)MIN(side, MIN(size.width, size.height));
  // As an option of the loader: libvips 8.14 does not hand its own "fail_on" on to it.
  int status = vips_thumbnail_buffer(
      (void *)bytes, count, &image, side, "height", side, "size", VIPS_SIZE_DOWN, "crop",
      order->is_cropped ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, "option_string", "[fail-on=error]", NULL);
  if (status == 0 && (image = cnetspool_vips_plain(image)) != NULL) {
    vips_image_set_progress(image, TRUE);
    g_signal_connect(image, "eval", G_CALLBACK(cnetspool_vips_check), guard);
    made->width = vips_image_get_width(image);
    made->height = vips_image_get_height(image);
    status = cnetspool_vips_encode(image, order, made);
  } else {
    status = -1;
  }
  if (image != NULL) g_object_unref(image);
  // The text is one for all threads, so it says nothing of this picture, and grows.
  vips_error_clear();
  return status;
}

static inline void cnetspool_vips_free(void *bytes) { g_free(bytes); }

#pragma clang assume_nonnull end
