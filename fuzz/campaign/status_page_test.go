package campaign

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/testenv"
)

// shown is a campaign to show: a target with a curve, and a crasher whose text
// would be markup.
func shown(t *testing.T) string {
	t.Helper()
	f := folder(t.TempDir())
	target := Target{Name: "text", Native: "FuzzText"}
	require.NoError(t, f.make([]Target{target}))
	_, err := f.claim(Config{Package: "sealab/fuzz/target", Targets: []Target{target}})
	require.NoError(t, err)
	j, _, err := openJournal(f.journal())
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, j.append(Record{Time: noon.Add(time.Duration(i) * time.Minute), Event: EventProgress, Target: "text",
			Executions: 60_000, Seconds: 60, New: 4 - i, Coverage: 100 + 10*i}))
	}
	require.NoError(t, j.close())
	v := &harness.Verdict{Kind: harness.KindPanic, Bucket: "panic-0123456789", Text: "<script>document.title='marked up'</script>",
		Stack: "goroutine 1 [running]:\nsealab/codecs/x.Open(0x1)\n\t/x.go:1\n"}
	require.NoError(t, harness.File(f.crashers("text"), []byte("input"), nil, v))
	require.NoError(t, os.WriteFile(filepath.Join(f.crashers("text"), v.Bucket, crasherFile),
		[]byte(`{"target":"text","bucket":"panic-0123456789","kind":"panic","text":"<script>document.title='marked up'</script>","size":5,"minimized":1}`), 0o644))
	return string(f)
}

func now() time.Time { return noon.Add(10 * time.Minute) }

func TestPage(t *testing.T) {
	dir := shown(t)
	w := httptest.NewRecorder()
	Handler(dir, now).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	body := w.Body.String()
	for _, want := range []string{"<td>text</td><td>300000</td><td>1000</td><td>1000</td><td>140</td>", "<td>7m0s</td>",
		`points="128.0,172.0 196.0,137.5 264.0,103.0 332.0,68.5 400.0,34.0"`, "text: coverage, bits", "minutes of one core", "sealab/codecs/x.Open", "panic-0123456789", "&lt;script&gt;"} {
		require.Contains(t, body, want)
	}
	require.NotContains(t, body, "<script>")

	w = httptest.NewRecorder()
	Handler(dir, now).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/other", nil))
	require.Equal(t, http.StatusNotFound, w.Code)
	w = httptest.NewRecorder()
	Handler(filepath.Join(dir, "nowhere"), now).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
}

// TestPageInABrowser looks at the page with headless Chromium.
func TestPageInABrowser(t *testing.T) {
	browser := findBrowser()
	if browser == "" {
		testenv.Skip(t, "no Chromium here")
	}
	server := httptest.NewServer(Handler(shown(t), now))
	defer server.Close()
	out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--dump-dom", server.URL).Output()
	require.NoError(t, err)
	dom := string(out)
	require.Contains(t, dom, "<title>sealab fuzz: sealab/fuzz/target</title>") // no script ran
	require.Contains(t, dom, `<polyline fill="none"`)
	require.Contains(t, dom, "sealab/codecs/x.Open")

	picture := filepath.Join(t.TempDir(), "page.png")
	err = exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--screenshot="+picture, "--window-size=1200,900", server.URL).Run()
	require.NoError(t, err)
	info, err := os.Stat(picture)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(1000))
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func TestListenIsLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.com:80", "127.0.0.1"} {
		_, err := Listen(address)
		require.Error(t, err, address)
	}
	l, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
}
