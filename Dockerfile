# crowdwise with its kernels compiled, so that no container has to: docker build -t crowdwise . && docker run crowdwise --help
# Machine code is for one kind of processor: on another kind than the builder's, kernels are compiled anew when needed.
FROM python:3.13-slim
COPY pyproject.toml README.md LICENSE /crowdwise/
COPY src /crowdwise/src
# Machine code is kept beside the installed package: every user reads it, also where nothing can be written to.
RUN pip install --no-cache-dir '/crowdwise[report]' && crowdwise warm-up && useradd --create-home crowd
USER crowd
WORKDIR /home/crowd
ENTRYPOINT ["crowdwise"]
