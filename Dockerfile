FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY requirements/run.txt requirements/run.txt
RUN pip install --no-cache-dir -r requirements/run.txt
COPY . .
RUN pip install --no-cache-dir --no-deps .
RUN useradd --create-home cuestream && mkdir -p /data && chown cuestream /data
USER cuestream
