package site_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"sealab/analysis/site"
	"sealab/analysis/throughput"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

// axe returns axe-core 4.14.1 (npm), which finds accessibility barriers. Its license is next to it.
func axe(t *testing.T) string {
	t.Helper()
	script, err := atomicfile.Read("testdata/axe/axe.min.js")
	require.NoError(t, err)
	return string(script)
}

var (
	everyPage   = flag.Bool("every-page", false, "look for barriers on every page, in light and dark")
	screenshots = flag.String("screenshots", "", "folder to write screenshots to")
)

// sample lists pages of every kind; the same templates make the others. axe also checks the pages in
// judged. It is slow on large tables.
var (
	sample = []string{"index", "design-aes-256-gcm-claims", "bench", "compare", "history", "attacks", "review", "fuzz", "vectors", "guides", "guide-go", "commands"}
	judged = []string{"index", "design-aes-256-gcm-claims", "review", "guides", "guide-go", "commands"}
)

// A browser is Chromium with the faults of the current page.
type browser struct {
	ctx    context.Context
	mu     sync.Mutex
	faults []string
}

// start starts Chromium. It skips the test if Chromium is missing, under -short and under the race
// detector.
func start(t *testing.T) *browser {
	t.Helper()
	testenv.SkipRace(t)
	if testing.Short() {
		testenv.Skip(t, "it takes ten seconds: run it without -short")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		testenv.Skip(t, "there is no Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{ctx: ctx}
	require.NoError(t, chromedp.Do(ctx))
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	return b
}

// listen collects errors, and requests outside of the folder.
func (b *browser) listen(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = fmt.Sprintf("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("console: %s", e.Args[0].Value)
	case *log.EventEntryAdded:
		fault = "log: " + e.Entry.Text
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "data:") {
			fault = "request: " + e.Request.URL
		}
	}
	if fault != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.faults = append(b.faults, fault)
	}
}

// open shows a page with a given width and color scheme, and returns its faults.
func (b *browser) open(t *testing.T, path string, width int64, scheme string) []string {
	t.Helper()
	b.take()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path)), path)
	wide := eval[int64](t, b, `document.documentElement.scrollWidth`)
	faults := b.take()
	if wide > width {
		faults = append(faults, fmt.Sprintf("scrolls: %d pixels wide at %d", wide, width))
	}
	return faults
}

// take returns the faults so far and clears them.
func (b *browser) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	faults := b.faults
	b.faults = nil
	return faults
}

// eval evaluates an expression in the page.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err, "%.200s", expression)
	return value
}

// barriers returns the violations that axe finds in the current page.
func (b *browser) barriers(t *testing.T) []string {
	t.Helper()
	eval[int](t, b, axe(t)+";0")
	return eval[[]string](t, b, `axe.run(document,{resultTypes:["violations"]}).then(r=>r.violations.map(v=>v.id+": "+v.nodes.slice(0,3).map(n=>n.target.join(" ")+" "+n.html.slice(0,160)).join(" | ")))`)
}

// shot saves a screenshot of the current page if the flag is set.
func (b *browser) shot(t *testing.T, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(*screenshots, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644))
}

// TestBrowser opens the pages of the committed results. It checks for errors, requests, sideways scrolling
// and accessibility barriers, and tries the filters.
func TestBrowser(t *testing.T) {
	b := start(t)
	all := pages(t)
	if !*everyPage {
		all = nil
		for _, name := range sample {
			all = append(all, filepath.Join(folder, name+".html"))
		}
	}
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".html")
		require.Empty(t, b.open(t, path, 360, "dark"), name)
		b.shot(t, name+"-360-dark")
		if *everyPage || slices.Contains(judged, name) {
			require.Empty(t, b.barriers(t), "%s in dark", name)
		}
		require.Empty(t, b.open(t, path, 1440, "light"), name)
		b.shot(t, name+"-1440-light")
		if *everyPage || name == "index" {
			require.Empty(t, b.barriers(t), "%s in light", name)
		}
	}
	t.Run("guarantee", func(t *testing.T) { filterByGuarantee(t, b) })
	t.Run("benchproc", func(t *testing.T) { filterByBenchproc(t, b) })
	t.Run("findings", func(t *testing.T) { filterFindings(t, b) })
	t.Run("sort", func(t *testing.T) { sortTable(t, b) })
	t.Run("other processor", func(t *testing.T) { otherProcessor(t, b) })
}

// otherProcessor opens a comparison of runs on two processors with long names, as users of make bench get
// it.
func otherProcessor(t *testing.T, b *browser) {
	runs, err := runfile.Newest(committed.Results, runfile.Bench, 1)
	require.NoError(t, err)
	text, err := atomicfile.Read(filepath.Join(runs[0], runfile.MainFile(runfile.Bench)))
	require.NoError(t, err)
	subjects, err := runfile.ReadSubjects(runs[0])
	require.NoError(t, err)
	root := t.TempDir()
	for date, cpu := range map[string]string{"20260101T000000Z": "a processor with a long name", "20260102T000000Z": "another processor with a name as long"} {
		dir := filepath.Join(root, runfile.Bench, date+"-0123456789")
		require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
		other := regexp.MustCompile(`(?m)^cpu: .*$`).ReplaceAll(text, []byte("cpu: "+cpu))
		require.NoError(t, runfile.WriteBench(dir, other, nil, subjects))
	}
	out := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site.Write(site.Source{Results: root}, out))
	require.Empty(t, b.open(t, filepath.Join(out, "compare.html"), 360, "light"))
	require.Contains(t, eval[string](t, b, `document.querySelector("main").textContent`), "the runs differ in cpu")
}

// set sets the value of a control as a user would.
func set(t *testing.T, b *browser, selector, value string) {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	eval[int](t, b, fmt.Sprintf(`{const x=document.querySelector(%q);x.value=%s;x.dispatchEvent(new Event("input",{bubbles:true}));0}`, selector, text))
}

func filterByGuarantee(t *testing.T, b *browser) {
	require.Empty(t, b.open(t, filepath.Join(folder, "index.html"), 1440, "light"))
	want := 0
	for _, d := range catalog.All() {
		if g, _ := d.Guarantee(codecs.KeyCommitting, nil); g.Holds {
			want++
		}
	}
	set(t, b, "[data-facet=holds]", string(codecs.KeyCommitting))
	require.Equal(t, want, eval[int](t, b, `document.querySelectorAll(".matrix tbody tr:not(.off)").length`))
	// Designs without a benchmark have no point.
	points := eval[int](t, b, `{const rows=new Set([...document.querySelectorAll(".matrix tbody tr:not(.off) a")].map(a=>a.getAttribute("href")));
		[...document.querySelectorAll("svg a[data-item]")].filter(a=>rows.has(a.getAttribute("href"))).length}`)
	require.NotZero(t, points)
	require.Equal(t, points, eval[int](t, b, `document.querySelectorAll("svg a[data-item]:not(.off)").length`))
	require.Greater(t, eval[int](t, b, `document.querySelectorAll("svg a[data-item].off").length`), 0)
}

// filterByBenchproc tries filters on the page and compares the outcome with golang.org/x/perf/benchproc.
func filterByBenchproc(t *testing.T, b *browser) {
	runs, err := runfile.Newest(committed.Results, runfile.Bench, 2)
	require.NoError(t, err)
	c, err := throughput.Compare(runs[0], runs[1], "*")
	require.NoError(t, err)
	require.Empty(t, b.open(t, filepath.Join(folder, "compare.html"), 1440, "light"))
	for _, text := range []string{
		"*", "/op:seal", "/op:(seal OR unseal) /size:1024", "/op:seal AND -/size:1024", "/design:aes-256-gcm OR /op:refuse-tag .unit:sec/op",
		"-(/op:seal OR /op:unseal) .unit:allocs/op", "/design:/gcm/ /op:seal", `.name:"Token"`, "/nothing:x",
	} {
		filter, err := benchproc.NewFilter(text)
		require.NoError(t, err, text)
		want := 0
		for _, ch := range c.Changes {
			if ch.Unit != "sec/op" && ch.Old.Center == ch.New.Center {
				continue
			}
			res := &benchfmt.Result{Name: benchfmt.Name(runfile.Name(ch.Subject.Name, ch.Op, ch.Size)), Iters: 1, Values: []benchfmt.Value{{Value: 1, Unit: ch.Unit}}}
			if ok, err := filter.Apply(res); err == nil && ok && len(res.Values) > 0 {
				want++
			}
		}
		set(t, b, "[data-syntax]", text)
		require.Equal(t, want, eval[int](t, b, `document.querySelectorAll("tr[data-item]:not(.off)").length`), text)
	}
	for _, wrong := range []string{"/op:", "(/op:seal", "seal", "/op:seal)", "nokey:1"} {
		set(t, b, "[data-syntax]", wrong)
		require.True(t, eval[bool](t, b, `document.querySelector("[data-syntax]").hasAttribute("aria-invalid")`), wrong)
	}
}

func filterFindings(t *testing.T, b *browser) {
	require.Empty(t, b.open(t, filepath.Join(folder, "review.html"), 1440, "light"))
	all := eval[int](t, b, `document.querySelectorAll(".finding .pill.bad").length`)
	set(t, b, "[data-facet=level]", "critical")
	critical := eval[int](t, b, `document.querySelectorAll(".finding:not(.off)").length`)
	set(t, b, "[data-order]", "category")
	order := eval[string](t, b, `[...document.querySelectorAll(".finding")].map(x=>x.dataset.category).join()`)
	require.NotZero(t, critical)
	require.Equal(t, all, critical)
	names := strings.Split(order, ",")
	require.IsNonDecreasing(t, names)
}

func sortTable(t *testing.T, b *browser) {
	require.Empty(t, b.open(t, filepath.Join(folder, "vectors.html"), 1440, "light"))
	eval[int](t, b, `document.querySelectorAll("thead button")[2].click();0`)
	counts := eval[[]float64](t, b, `[...document.querySelector("table").tBodies[0].rows].map(r=>parseFloat(r.cells[2].textContent))`)
	require.Greater(t, len(counts), 10)
	require.IsNonDecreasing(t, counts)
}

// TestBrowserRings opens a page with every fault and checks that each is found.
func TestBrowserRings(t *testing.T) {
	b := start(t)
	path := filepath.Join(t.TempDir(), "bad.html")
	require.NoError(t, os.WriteFile(path, []byte(`<!DOCTYPE html><html><head><title>bad</title></head><body><div style="width:500px;color:#ccc;background:#fff">pale</div>
<img src="http://127.0.0.1:1/x.png"><input><script>console.error("loud");throw new Error("thrown")</script></body></html>`), 0o644))
	faults := strings.Join(b.open(t, path, 360, "light"), "\n")
	for _, want := range []string{"loud", "thrown", "request: http://127.0.0.1:1/x.png", "scrolls: 508 pixels wide at 360"} {
		require.Contains(t, faults, want)
	}
	barriers := strings.Join(b.barriers(t), "\n")
	for _, want := range []string{"color-contrast", "image-alt", "label", "html-has-lang"} {
		require.Contains(t, barriers, want)
	}
}
