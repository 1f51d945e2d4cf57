# crowdwise with its kernels compiled, so that no container has to: docker build -t crowdwise . && docker run crowdwise --help
# Machine code is for one kind of processor: on another kind than the builder's, kernels are compiled anew when needed.
FROM python:3.13-slim
COPY pyproject.toml README.md LICENSE /crowdwise/
COPY src /crowdwise/src
RUN pip install --no-cache-dir '/crowdwise[report]' && useradd --create-home crowd
# As the user who runs it: machine code is kept in a folder that no other user can write to.
USER crowd
WORKDIR /home/crowd
RUN crowdwise warm-up
ENTRYPOINT ["crowdwise"]
