package git

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/pack/packtest"
)

// serveHostile answers with so many refs, among them the branch at a commit, and with the pack in a file.
func serveHostile(tb testing.TB, refs int, tip, file string) string {
	tb.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/info/refs") {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			_, _ = io.WriteString(w, "0008NAK\n")
			pack, err := os.Open(file)
			if err != nil {
				return
			}
			defer pack.Close()
			_, _ = io.Copy(w, pack)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
		line := tip + " refs/heads/main\x00agent=hostile\n"
		for n := range refs {
			if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
				return
			}
			line = fmt.Sprintf("%s refs/heads/b%07d\n", tip, n)
		}
		_, _ = io.WriteString(w, "0000")
	}))
	tb.Cleanup(h.Close)
	return h.URL + "/hostile.git"
}

func TestMillionRefs(t *testing.T) {
	c, err := NewClient(Remote{URL: serveHostile(t, 1_000_000, strings.Repeat("a", 40), os.DevNull), Branch: "main", StateRef: stateRef}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Look(t.Context(), nil); failure.ClassOf(err) != failure.ClassTooLarge {
		t.Errorf("\nA server that has a million refs is too large over HTTP.\nLook(...): %v", err)
	}
}

// BenchmarkHostilePack reads packs that are small on the wire and large in memory, and reports the peak memory of the process for each of them, above its
// memory before. The packs lie in files, so that the servers need no memory.
func BenchmarkHostilePack(b *testing.B) {
	noise := func(h *packtest.Pack) {
		random := rand.NewChaCha8([32]byte{})
		for range 3_700 {
			block := make([]byte, 8_000)
			_, _ = random.Read(block) // It never fails.
			h.Whole(plumbing.BlobObject, block)
		}
		h.Whole(plumbing.BlobObject, make([]byte, 40<<20))
	}
	servers := []struct {
		name string
		refs int
		fill func(h *packtest.Pack)
	}{
		{name: "400000-tiny-objects", refs: 1, fill: func(h *packtest.Pack) { h.Tiny(400_000) }},
		{name: "as-many-tiny-objects-as-fit", refs: 1, fill: func(h *packtest.Pack) { h.Tiny(200_000 - 2) }},
		{name: "chain-as-large-as-fits", refs: 1, fill: func(h *packtest.Pack) { h.Chain(1_200, 64<<10, true) }},
		{name: "long-chain", refs: 1, fill: func(h *packtest.Pack) { h.Chain(20_000, 3_000, true) }},
		{name: "one-object-as-large-as-fits", refs: 1, fill: func(h *packtest.Pack) { h.Whole(plumbing.BlobObject, make([]byte, maxInflatedBytes-(1<<20))) }},
		{name: "wire-and-objects-full", refs: 1, fill: noise},
		{name: "million-refs", refs: 1_000_000, fill: func(*packtest.Pack) {}},
		{name: "as-many-refs-as-fit", refs: 120_000, fill: func(*packtest.Pack) {}},
	}
	for _, s := range servers {
		b.Run(s.name, func(b *testing.B) {
			peak := 0.0
			for b.Loop() {
				peak = max(peak, memoryOfLook(b, prepareHostile(b, s.refs, s.fill)))
			}
			b.ReportMetric(peak, "MiB")
		})
	}
}

func prepareHostile(tb testing.TB, refs int, fill func(h *packtest.Pack)) string {
	tb.Helper()
	h := packtest.New(tb)
	tip := h.Tip()
	fill(h)
	file := filepath.Join(tb.TempDir(), "pack")
	if err := os.WriteFile(file, h.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return serveHostile(tb, refs, tip, file)
}

// memoryOfLook is how much more memory the process had at some time of a look than before it, as the kernel counts it.
func memoryOfLook(tb testing.TB, url string) float64 {
	tb.Helper()
	c, err := NewClient(Remote{URL: url, Branch: "main", StateRef: stateRef}, budget.New())
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		tb.Skip("the kernel does not forget the peak of a process: ", err)
	}
	baseline := residentMiB(tb, "VmRSS:")
	if _, err := c.Look(context.Background(), nil); err != nil && failure.ClassOf(err) != failure.ClassTooLarge {
		tb.Fatal(err)
	}
	return residentMiB(tb, "VmHWM:") - baseline
}

func residentMiB(tb testing.TB, field string) float64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), field)
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f", &kib); err != nil {
		tb.Fatal(err)
	}
	return kib / 1024
}
