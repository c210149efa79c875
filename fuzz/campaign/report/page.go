package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net"
	"net/http"
	"time"

	"sealab/internal/loopback"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// A pageData is a Status at a time.
type pageData struct {
	Status
	now time.Time
}

// Age returns the time since then.
func (d pageData) Age(then time.Time) string { return age(then, d.now) }

// Handler serves the status of the campaign in dir: a page at / and JSON at
// /status.json. It answers GET and HEAD on a loopback host alone, because it
// shows stacks and paths without authentication.
func Handler(dir string, now func() time.Time) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serve(dir, "text/html; charset=utf-8", func(b *bytes.Buffer, s Status) error {
		return page.Execute(b, pageData{s, now()})
	}))
	mux.HandleFunc("GET /status.json", serve(dir, "application/json", func(b *bytes.Buffer, s Status) error {
		return json.NewEncoder(b).Encode(s)
	}))
	return loopback.Guard(mux)
}

func serve(dir, contentType string, write func(*bytes.Buffer, Status) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		status, err := ReadStatus(dir)
		if err == nil {
			err = write(&b, status)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Write(b.Bytes()) // the client may have gone
	}
}

// Listen listens on a loopback address for Handler.
func Listen(address string) (net.Listener, error) {
	if err := loopback.Check(address); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}
