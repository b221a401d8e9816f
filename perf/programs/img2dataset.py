"""Thumbnails the way img2dataset makes them: img2dataset.py LIST FOLDER

A process for each processor, 32 threads in each that fetch by urllib, and OpenCV that decodes in full, shrinks by area and
encodes; without OpenCV it is Pillow. Sides of 256 at most, JPEG of quality 75.
"""

import concurrent.futures
import io
import multiprocessing
import os
import sys
import urllib.request

try:
    import cv2
    import numpy
except ImportError:
    cv2 = None
    import PIL.Image

SIDE, QUALITY, THREADS = 256, 75, 32


def by_opencv(data):
    image = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    height, width = image.shape[:2]
    scale = min(1, SIDE / max(width, height))
    image = cv2.resize(image, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes()


def by_pillow(data):
    image = PIL.Image.open(io.BytesIO(data))
    scale = min(1, SIDE / max(image.size))
    image = image.resize([round(side * scale) for side in image.size], PIL.Image.BOX)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def make(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        data = answer.read()
    small = by_opencv(data) if cv2 else by_pillow(data)
    with open(os.path.join(sys.argv[2], os.path.basename(url)), "wb") as file:
        file.write(small)


def make_all(urls):
    if cv2:
        cv2.setNumThreads(1)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(make, urls):
            pass


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        urls = file.read().split()
    count = os.cpu_count()
    with multiprocessing.Pool(count) as pool:
        pool.map(make_all, [urls[start::count] for start in range(count)], chunksize=1)
