package repository

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	// benchDeliveries go to one repository, each with its own directory of five files.
	benchDeliveries = 1000
	benchFiles      = 5
)

func BenchmarkDeliver(b *testing.B) {
	b.Run("together", func(b *testing.B) { benchmark(b, 0, benchDeliveries, together) })
	b.Run("alone", func(b *testing.B) { benchmark(b, benchDeliveries/2, benchDeliveries/10, oneByOne) })
}

// benchmark deliveries into a repository that holds others already.
func benchmark(b *testing.B, warmups, deliveries int, run func(tb testing.TB, r *Repository, start, end int)) {
	b.Helper()
	for range b.N {
		b.StopTimer()
		seed := map[string]string{}
		for i := range 200 {
			seed[fmt.Sprintf("apps/team-%d/app-%d/deployment.yaml", i%20, i)] = fmt.Sprint(i)
		}
		s := serve(b, seed)
		r := open(b, pool(Options{}), s)
		together(b, r, 0, warmups)
		b.StartTimer()
		began := time.Now()
		run(b, r, warmups, warmups+deliveries)
		b.ReportMetric(float64(deliveries)/time.Since(began).Seconds(), "deliveries/s")
	}
}

// BenchmarkLarge delivers to a repository that exists, one delivery after the other. Without one it makes a small one.
func BenchmarkLarge(b *testing.B) {
	for range b.N {
		url := os.Getenv("INTENTPLANE_BENCH_URL")
		if url == "" {
			url = serve(b, map[string]string{"README.md": "hello"}).URL(repo)
		}
		r := openURL(b, pool(Options{}), url)
		const later = 5
		began := time.Now()
		oneByOne(b, r, 0, 1)
		first := time.Since(began)
		oneByOne(b, r, 1, 1+later)
		b.ReportMetric(first.Seconds(), "s/first")
		b.ReportMetric((time.Since(began)-first).Seconds()/later, "s/delivery")
		b.ReportMetric(peak(b), "MiB")
	}
}

// peak is the most memory that the process had, as the kernel reports it.
func peak(tb testing.TB) float64 {
	tb.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f", &kib); err != nil {
		tb.Fatal(err)
	}
	return kib / 1024
}

func together(tb testing.TB, r *Repository, start, end int) {
	tb.Helper()
	errs := make(chan error, end-start)
	for n := start; n < end; n++ {
		go func() { errs <- r.Deliver(context.Background(), fiveFiles(n)) }()
	}
	for range end - start {
		if err := <-errs; err != nil {
			tb.Fatal(err)
		}
	}
}

func oneByOne(tb testing.TB, r *Repository, start, end int) {
	tb.Helper()
	for n := start; n < end; n++ {
		if err := r.Deliver(context.Background(), fiveFiles(n)); err != nil {
			tb.Fatal(err)
		}
	}
}

func fiveFiles(n int) Delivery {
	files := map[string]string{}
	for i := range benchFiles {
		files[fmt.Sprintf("file-%d.yaml", i)] = fmt.Sprintf("n: %d\ni: %d\n", n, i)
	}
	return writes(types.NamespacedName{Namespace: "team-a", Name: fmt.Sprintf("web-%d", n)}, files)
}

// writes puts files into the directory of an object, and remembers them.
func writes(key types.NamespacedName, files map[string]string) Delivery {
	put := map[string][]byte{}
	for name, content := range files {
		put[name] = []byte(content)
	}
	return Delivery{Object: key, Version: fmt.Sprint(files), Plan: func(ctx context.Context, d *git.Draft) error {
		_, err := d.Commit(ctx, git.Change{
			Put:     map[string]map[string][]byte{"sites/a/" + key.String(): put},
			State:   map[string][]byte{key.String(): fmt.Append(nil, files)},
			Message: fmt.Sprintf("Deliver %s\n\nDelivery: %s %v\n", key, key, files),
			Author:  git.Author{Name: "Intentplane", Email: "intentplane@example.org"},
			When:    time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		})
		return err
	}}
}

const repo = "team/repo"

func serve(tb testing.TB, seed map[string]string) *gitserver.Server {
	tb.Helper()
	s, err := gitserver.New(context.Background(), tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	if err := s.CreateRepo(context.Background(), repo, seed); err != nil {
		tb.Fatal(err)
	}
	return s
}

// pool sets defaults of the options. Without a patience it waits for minutes, also for a server that failed before: a busy machine is as slow as such
// a server.
func pool(o Options) *Pool {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = func() time.Duration { return 0 }
	}
	if o.Wake == nil {
		o.Wake = func(types.NamespacedName) {}
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
		o.QuickPatience = cmp.Or(o.QuickPatience, o.Patience)
	}
	return NewPool(o)
}

func open(tb testing.TB, p *Pool, s *gitserver.Server) *Repository {
	tb.Helper()
	return openURL(tb, p, s.URL(repo))
}

func openURL(tb testing.TB, p *Pool, url string) *Repository {
	tb.Helper()
	clients := []*git.Client{}
	for _, ref := range []string{"refs/intentplane/prod/state", "refs/heads/intentplane-state/prod"} {
		c, err := p.NewClient(git.Remote{URL: url, Branch: gitserver.Branch, StateRef: ref})
		if err != nil {
			tb.Fatal(err)
		}
		clients = append(clients, c)
	}
	r, err := p.Open(clients...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.closeForGood)
	return r
}
