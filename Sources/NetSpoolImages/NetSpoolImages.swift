// NetSpoolImages makes thumbnails of pictures that NetSpool fetches, with libvips. It is there with the trait `Images`;
// without it the module is empty, and neither libvips nor its headers are needed.
