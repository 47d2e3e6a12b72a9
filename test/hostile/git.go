package hostile

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/adler32"
	"io"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// A Git is a Git server that does harm to a client that reads from it.
type Git struct {
	*httptest.Server
}

// NewGit starts a Git server with one branch, main, that answers each fetch with a pack. The pack begins with the commit of an empty tree.
func NewGit(pack []byte) *Git { return newPackServer(pack, emptyCommit(), mainRef) }

// StateRef is a ref that NewGitOf has beside the branch.
const StateRef = "refs/intentplane/test/state"

// NewGitOf starts a Git server whose branch main and StateRef are at the commit of a graph, and that answers each fetch with the whole graph.
func NewGitOf(g Graph) *Git { return newPackServer(g.Pack(), g.Commit, mainRef, StateRef) }

const mainRef = "refs/heads/main"

func newPackServer(pack []byte, commit string, refs ...string) *Git {
	return &Git{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			advertiseRefs(w, commit, slices.Values(refs))
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_, _ = io.WriteString(w, "0008NAK\n")
		_, _ = w.Write(pack)
	}))}
}

// NewGitWithoutObjects starts a Git server that lists a branch, and has none of its objects.
func NewGitWithoutObjects() *Git {
	return &Git{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/info/refs") {
			http.NotFound(w, r)
			return
		}
		advertiseRefs(w, emptyCommit(), mainAndOtherRefs(1))
	}))}
}

// NewGitWithRefs starts a Git server that lists as many branches.
func NewGitWithRefs(count int) *Git {
	return &Git{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		advertiseRefs(w, emptyCommit(), mainAndOtherRefs(count))
	}))}
}

// RepositoryURL is the address of the server's one repository.
func (g *Git) RepositoryURL() string { return g.URL + "/repo.git" }

// Stop ends the server and all its connections.
func (g *Git) Stop() {
	g.CloseClientConnections()
	g.Close()
}

// emptyCommit is the id of the commit of an empty tree.
func emptyCommit() string {
	return gitObjectID(objectCommit, commitOfTree(gitObjectID(objectTree, nil)))
}

// mainAndOtherRefs returns the branch main and other refs.
func mainAndOtherRefs(count int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n, name := 0, mainRef; n < count && yield(name); n++ {
			name = fmt.Sprintf("refs/heads/b%07d", n)
		}
	}
}

// advertiseRefs lists refs, all at one commit.
func advertiseRefs(w http.ResponseWriter, commit string, refs iter.Seq[string]) {
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
	end := "\x00agent=hostile\n"
	for name := range refs {
		line := commit + " " + name + end
		if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
			return
		}
		end = "\n"
	}
	_, _ = io.WriteString(w, "0000")
}

// Types of objects in a pack (gitformat-pack).
const (
	objectCommit = 1
	objectTree   = 2
	objectBlob   = 3
)

// TinyObjects is a pack of a few MiB whose objects, of four bytes each, take far more in memory.
func TinyObjects(count int) []byte {
	out := newCommitPack(count + 2)
	for n := range count {
		writeObject(out, objectBlob, binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
	return appendChecksum(out)
}

// BrokenPack is a pack that has fewer objects than it says.
func BrokenPack() []byte { return appendChecksum(newCommitPack(1000)) }

// newCommitPack begins a pack of as many objects with a commit and its empty tree.
func newCommitPack(count int) *bytes.Buffer {
	out := newPackHeader(count)
	writeObject(out, objectTree, nil)
	writeObject(out, objectCommit, commitOfTree(gitObjectID(objectTree, nil)))
	return out
}

func newPackHeader(count int) *bytes.Buffer {
	out := bytes.NewBufferString("PACK\x00\x00\x00\x02")
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(count)))
	return out
}

func appendChecksum(out *bytes.Buffer) []byte {
	sum := sha1.Sum(out.Bytes())
	return append(out.Bytes(), sum[:]...)
}

// writeObject adds an object to a pack. Its head is the kind and the size, in seven bits of each byte after the first four.
func writeObject(out *bytes.Buffer, kind byte, data []byte) {
	size := len(data)
	head := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		out.WriteByte(head | 0x80)
		head = byte(size & 0x7f)
	}
	out.WriteByte(head)
	// Stored blocks, as zlib has them (RFC 1950, 1951): a writer of the library takes a MiB for each object.
	out.WriteString("\x78\x01")
	for rest := data; ; {
		block := rest[:min(len(rest), math.MaxUint16)]
		rest = rest[len(block):]
		last := byte(0)
		if len(rest) == 0 {
			last = 1
		}
		out.WriteByte(last)
		out.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(block))))
		out.Write(binary.LittleEndian.AppendUint16(nil, ^uint16(len(block))))
		out.Write(block)
		if last == 1 {
			break
		}
	}
	out.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
}

func commitOfTree(tree string) []byte {
	return []byte("tree " + tree + "\nauthor x <x@example.org> 1 +0000\ncommitter x <x@example.org> 1 +0000\n\nx\n")
}

func gitObjectID(kind int, data []byte) string {
	name := map[int]string{objectCommit: "commit", objectTree: "tree", objectBlob: "blob"}[kind]
	sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", name, len(data)), data...))
	return hex.EncodeToString(sum[:])
}
