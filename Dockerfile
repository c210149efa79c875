# The command in an image without a shell. Build: docker build -t sealab .
# Run: docker run --rm sealab list
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -buildid=" -o /sealab ./cmd/sealab

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /sealab /usr/local/bin/sealab
USER nonroot
ENTRYPOINT ["/usr/local/bin/sealab"]
CMD ["--help"]
