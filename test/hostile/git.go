package hostile

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/adler32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// A Git is a Git server that does harm to a client that reads from it.
type Git struct {
	*httptest.Server
}

// NewGit starts a Git server with one branch, main, that answers each fetch with a pack.
func NewGit(pack []byte) *Git {
	return &Git{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			advertiseRefs(w, 1)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_, _ = io.WriteString(w, "0008NAK\n")
		_, _ = w.Write(pack)
	}))}
}

// NewGitWithRefs starts a Git server that lists as many branches.
func NewGitWithRefs(count int) *Git {
	return &Git{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { advertiseRefs(w, count) }))}
}

// RepositoryURL is the address of the server's one repository.
func (g *Git) RepositoryURL() string { return g.URL + "/repo.git" }

// Stop ends the server and all its connections.
func (g *Git) Stop() {
	g.CloseClientConnections()
	g.Close()
}

// advertiseRefs lists the branch main and others, all at the commit that packs begin with.
func advertiseRefs(w http.ResponseWriter, count int) {
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
	line := objectID(objectCommit, commitOf(objectID(objectTree, nil))) + " refs/heads/main\x00agent=hostile\n"
	for n := range count {
		if _, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line); err != nil {
			return
		}
		line = fmt.Sprintf("%s refs/heads/b%07d\n", line[:40], n)
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
	out := newPack(count + 2)
	for n := range count {
		writeObject(out, objectBlob, binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
	return sealPack(out)
}

// BrokenPack is a pack that has fewer objects than it says.
func BrokenPack() []byte { return sealPack(newPack(1000)) }

// newPack begins a pack of as many objects with a commit and its empty tree.
func newPack(count int) *bytes.Buffer {
	out := bytes.NewBufferString("PACK\x00\x00\x00\x02")
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(count)))
	writeObject(out, objectTree, nil)
	writeObject(out, objectCommit, commitOf(objectID(objectTree, nil)))
	return out
}

func sealPack(out *bytes.Buffer) []byte {
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
	// One stored block, as zlib has it (RFC 1950, 1951): a writer of the library takes a MiB for each object.
	out.WriteString("\x78\x01\x01")
	out.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(data))))
	out.Write(binary.LittleEndian.AppendUint16(nil, ^uint16(len(data))))
	out.Write(data)
	out.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
}

func commitOf(tree string) []byte {
	return []byte("tree " + tree + "\nauthor x <x@example.org> 1 +0000\ncommitter x <x@example.org> 1 +0000\n\nx\n")
}

func objectID(kind int, data []byte) string {
	name := map[int]string{objectCommit: "commit", objectTree: "tree", objectBlob: "blob"}[kind]
	sum := sha1.Sum(append(fmt.Appendf(nil, "%s %d\x00", name, len(data)), data...))
	return hex.EncodeToString(sum[:])
}
