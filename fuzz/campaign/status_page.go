package campaign

import (
	_ "embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"

	"sealab/internal/loopback"
)

//go:embed status_page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// A pageData is a Status and the time at which it is looked at.
type pageData struct {
	Status
	now time.Time
}

// Age is how long ago then is.
func (d pageData) Age(then time.Time) string { return age(then, d.now) }

// Handler serves the status page of the campaign in dir.
func Handler(dir string, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		status, err := ReadStatus(dir)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var b strings.Builder
		if err := page.Execute(&b, pageData{status, now()}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, b.String())
	})
}

// Listen listens on a loopback address. No other will do for the status page: it
// shows stacks and paths, and has no authentication.
func Listen(address string) (net.Listener, error) {
	if err := loopback.Check(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	return l, nil
}
