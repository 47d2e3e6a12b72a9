package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
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
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/gitserver"
)

// A hostile pack is written part by part, as no git command would.
type hostilePack struct {
	testing.TB
	packer

	parts int
}

func newHostilePack(tb testing.TB) *hostilePack {
	tb.Helper()
	h := &hostilePack{TB: tb}
	h.zip = zlib.NewWriter(&h.out)
	h.out.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	return h
}

// whole adds an object, and returns its place in the pack.
func (h *hostilePack) whole(kind plumbing.ObjectType, data []byte) (at int) {
	h.Helper()
	at = h.out.Len()
	h.writeHeader(kind, len(data))
	h.deflate(data)
	return at
}

func (h *hostilePack) deflate(data []byte) {
	h.Helper()
	h.parts++
	if err := h.writeCompressed(data); err != nil {
		h.Fatal(err)
	}
}

// after adds what makes one object of the one at a place of the pack.
func (h *hostilePack) after(base int, from, to []byte) (at int) {
	h.Helper()
	at = h.out.Len()
	delta := encodeDelta(from, to)
	h.writeHeader(plumbing.OFSDeltaObject, len(delta))
	h.writeBaseOffset(at - base)
	h.deflate(delta)
	return at
}

// of adds what makes one object of another one, which is named by its id and may follow.
func (h *hostilePack) of(base plumbing.Hash, delta []byte) {
	h.Helper()
	h.writeHeader(plumbing.REFDeltaObject, len(delta))
	h.out.Write(base[:])
	h.deflate(delta)
}

func (h *hostilePack) bytes() []byte {
	b := h.out.Bytes()
	binary.BigEndian.PutUint32(b[8:], uint32(h.parts))
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// tip adds a commit without files, which a branch can be at.
func (h *hostilePack) tip() string {
	h.Helper()
	tree := NewObject(plumbing.TreeObject, nil)
	h.whole(plumbing.TreeObject, nil)
	data := []byte("tree " + tree.ID.String() + "\nauthor x <x@example.org> 1 +0000\ncommitter x <x@example.org> 1 +0000\n\nx\n")
	h.whole(plumbing.CommitObject, data)
	return NewObject(plumbing.CommitObject, data).ID.String()
}

// tiny objects, each of which has four bytes.
func (h *hostilePack) tiny(count int) {
	h.Helper()
	for n := range count {
		h.whole(plumbing.BlobObject, binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
}

// chain of objects of some bytes, each of which is made of the one before it. The last one comes first if it is backwards.
func (h *hostilePack) chain(links, size int, backwards bool) {
	h.Helper()
	versions := make([]Object, links+1)
	for n := range versions {
		versions[n] = NewObject(plumbing.BlobObject, append(bytes.Repeat([]byte("x"), size), fmt.Sprintf("%08d", n)...))
	}
	if !backwards {
		at := h.whole(plumbing.BlobObject, versions[0].Data)
		for n := range links {
			at = h.after(at, versions[n].Data, versions[n+1].Data)
		}
		return
	}
	for n := links; n > 0; n-- {
		h.of(versions[n-1].ID, encodeDelta(versions[n-1].Data, versions[n].Data))
	}
	h.whole(plumbing.BlobObject, versions[0].Data)
}

// counted counts how often a pack is gone through from another place.
type counted struct {
	*bytes.Reader

	seeks int
}

func (c *counted) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		c.seeks++
	}
	return c.Reader.Seek(offset, whence)
}

func TestHostilePack(t *testing.T) {
	cases := map[string]struct {
		reason string
		fill   func(h *hostilePack)
		limit  int64
		class  Class
		want   int
	}{
		"TinyObjects": {
			reason: "Objects of four bytes count with what they take in memory.",
			fill:   func(h *hostilePack) { h.tiny(10_000) }, limit: 1 << 20, class: ClassTooLarge,
		},
		"TinyDeltas": {
			reason: "Deltas count with what they take in memory.",
			fill: func(h *hostilePack) {
				at := h.whole(plumbing.BlobObject, []byte("x"))
				for n := range 10_000 {
					h.after(at, []byte("x"), fmt.Append(nil, n))
				}
			}, limit: 1 << 20, class: ClassTooLarge,
		},
		"TooManyObjects": {
			reason: "A pack has no more than so many objects, whatever the limit of their bytes.",
			fill:   func(h *hostilePack) { h.parts = maxObjects + 1 }, limit: 1 << 40, class: ClassTooLarge,
		},
		"LongChain": {
			reason: "A chain of deltas that is longer than Git makes any is read, each object once.",
			fill:   func(h *hostilePack) { h.chain(5_000, 1_000, false) }, limit: maxInflatedBytes, want: 5_001,
		},
		"LongChainBackwards": {
			reason: "A chain whose links come in the wrong order is read, each object once.",
			fill:   func(h *hostilePack) { h.chain(5_000, 1_000, true) }, limit: maxInflatedBytes, want: 5_001,
		},
		"ChainOfLargeObjects": {
			reason: "A chain counts with the size of each object that it makes.",
			fill:   func(h *hostilePack) { h.chain(2_000, 64<<10, false) }, limit: maxInflatedBytes, class: ClassTooLarge,
		},
		"NoBase": {
			reason: "A delta whose base is not there is an error.",
			fill: func(h *hostilePack) {
				h.of(plumbing.NewHash(strings.Repeat("a", 40)), encodeDelta([]byte("a"), []byte("b")))
			},
			limit: maxInflatedBytes, class: ClassTransient,
		},
		"DeltaLies": {
			reason: "A delta that makes more than it says is an error.",
			fill: func(h *hostilePack) {
				h.of(NewObject(plumbing.BlobObject, []byte("abc")).ID, append([]byte{3, 1}, appendCopySteps(nil, 0, 3)...))
				h.whole(plumbing.BlobObject, []byte("abc"))
			},
			limit: maxInflatedBytes, class: ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHostilePack(t)
			tc.fill(h)
			data := &counted{Reader: bytes.NewReader(h.bytes())}
			got := map[plumbing.Hash]Object{}
			p, _, err := ScanPack(t.Context(), data, tc.limit)
			if err == nil {
				got, err = p.Unpack(t.Context())
			}
			if err != nil {
				err = packError{err}
			}
			class := Class("")
			if err != nil {
				class, _ = classifyTransport(VerbRead, err)
			}
			if diff := cmp.Diff(tc.class, class); diff != "" {
				t.Fatalf("\n%s\nunpack(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err == nil && (len(got) != tc.want || data.seeks > h.parts) {
				t.Errorf("\n%s\nunpack(...): want %d objects, got %d, and went to another place %d times", tc.reason, tc.want, len(got), data.seeks)
			}
		})
	}
}

func TestUnpackEnds(t *testing.T) {
	h := newHostilePack(t)
	h.tiny(10)
	data := bytes.NewReader(h.bytes())
	p, _, err := ScanPack(t.Context(), data, maxInflatedBytes)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Unpack(ended); err == nil {
		t.Error("\nA pack is not decoded once nobody waits for it.\nunpack(...): no error")
	}
	if _, _, err := ScanPack(ended, bytes.NewReader(h.bytes()), maxInflatedBytes); err == nil {
		t.Error("\nA pack is not gone through once nobody waits for it.\nscanPack(...): no error")
	}
}

// serveHostile answers with so many refs, of which the branch is at a commit, and with the pack in a file.
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
	c, err := NewClient(Remote{URL: serveHostile(t, 1_000_000, strings.Repeat("a", 40), os.DevNull), Branch: "main", StateRef: stateRef})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Look(t.Context(), nil); ClassOf(err) != ClassTooLarge {
		t.Errorf("\nA server that has a million refs is too large over HTTP.\nLook(...): %v", err)
	}
}

func TestManyRefsOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello"})
	tip := run(t, s, "rev-parse", gitserver.Branch)
	packed := strings.Builder{}
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for n := range 100_000 {
		fmt.Fprintf(&packed, "%s refs/heads/%s%07d\n", tip, strings.Repeat("b", 60), n)
	}
	if err := os.WriteFile(filepath.Join(s.Path(repo), "packed-refs"), []byte(packed.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, s, over(x, key)).Look(t.Context(), nil); ClassOf(err) != ClassTooLarge {
		t.Errorf("\nA server whose refs take more than 8 MiB is too large over SSH.\nLook(...): %v", err)
	}
}

// BenchmarkHostilePack looks at servers that send what is small on the wire and large in memory, and reports the most memory that the
// process took for one of them, above what it had before. The packs lie in files, so that the servers take none.
func BenchmarkHostilePack(b *testing.B) {
	noise := func(h *hostilePack) {
		random := rand.NewChaCha8([32]byte{})
		for range 3_700 {
			block := make([]byte, 8_000)
			_, _ = random.Read(block) // It never fails.
			h.whole(plumbing.BlobObject, block)
		}
		h.whole(plumbing.BlobObject, make([]byte, 40<<20))
	}
	servers := []struct {
		name string
		refs int
		fill func(h *hostilePack)
	}{
		{name: "400000-tiny-objects", refs: 1, fill: func(h *hostilePack) { h.tiny(400_000) }},
		{name: "as-many-tiny-objects-as-fit", refs: 1, fill: func(h *hostilePack) { h.tiny(maxObjects - 2) }},
		{name: "chain-as-large-as-fits", refs: 1, fill: func(h *hostilePack) { h.chain(1_200, 64<<10, true) }},
		{name: "long-chain", refs: 1, fill: func(h *hostilePack) { h.chain(20_000, 3_000, true) }},
		{name: "one-object-as-large-as-fits", refs: 1, fill: func(h *hostilePack) { h.whole(plumbing.BlobObject, make([]byte, maxInflatedBytes-(1<<20))) }},
		{name: "wire-and-objects-full", refs: 1, fill: noise},
		{name: "million-refs", refs: 1_000_000, fill: func(*hostilePack) {}},
		{name: "as-many-refs-as-fit", refs: 120_000, fill: func(*hostilePack) {}},
	}
	for _, s := range servers {
		b.Run(s.name, func(b *testing.B) {
			most := 0.0
			for b.Loop() {
				most = max(most, memoryOfLook(b, prepareHostile(b, s.refs, s.fill)))
			}
			b.ReportMetric(most, "MiB")
		})
	}
}

func prepareHostile(tb testing.TB, refs int, fill func(h *hostilePack)) string {
	tb.Helper()
	h := newHostilePack(tb)
	tip := h.tip()
	fill(h)
	file := filepath.Join(tb.TempDir(), "pack")
	if err := os.WriteFile(file, h.bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	return serveHostile(tb, refs, tip, file)
}

// memoryOfLook is how much more memory the process had at some time of a look than before it, as the kernel counts it.
func memoryOfLook(tb testing.TB, url string) float64 {
	tb.Helper()
	c, err := NewClient(Remote{URL: url, Branch: "main", StateRef: stateRef})
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		tb.Skip("the kernel does not forget the peak of a process: ", err)
	}
	before := residentMiB(tb, "VmRSS:")
	if _, err := c.Look(context.Background(), nil); err != nil && ClassOf(err) != ClassTooLarge {
		tb.Fatal(err)
	}
	return residentMiB(tb, "VmHWM:") - before
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
