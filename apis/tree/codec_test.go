package tree

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/soak"
)

func TestEncodeTree(t *testing.T) {
	files := func() Files {
		f := Files{}
		for i := range 50 {
			f[fmt.Sprintf("dir%d/file%d.yaml", i%7, i)] = []byte(strings.Repeat(fmt.Sprint(i), i))
		}
		f[strings.Repeat("long/", 40)+"name.yaml"] = []byte("PAX")
		return f
	}
	want, err := Encode(files())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		got, err := Encode(files())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Fatal("Encode(...): the same files must give the same bytes")
		}
	}
	got, err := Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files(), got); diff != "" {
		t.Errorf("Decode(Encode(...)): -want, +got:\n%s", diff)
	}
}

func TestEncodeRefuses(t *testing.T) {
	noise := make([]byte, MaxEncodedBytes+1)
	rand.New(rand.NewSource(1)).Read(noise)
	tooMany := Files{}
	for i := range MaxFiles + 1 {
		tooMany[fmt.Sprint(i)] = nil
	}
	cases := map[string]struct {
		reason string
		files  Files
		want   string
	}{
		"TooLarge": {
			reason: "A tree that does not fit is refused with the numbers.",
			files:  Files{"a": noise, "b": nil},
			want:   " bytes encoded, more than the 716800 that fit",
		},
		"TooMany": {reason: "The number of files is bounded.", files: tooMany, want: "2001 files are more than the 2000 that a tree may hold"},
		"TooMuch": {
			reason: "The content of a tree is bounded, however well it compresses.",
			files:  Files{"a": make([]byte, MaxBytes), "b": {1}}, want: "8388609 bytes are more than the 8388608 that a tree may hold",
		},
		"BadPath":    {reason: "A path that may not be read is not written.", files: Files{"../a": nil}, want: `"../a" has a part that begins with a dot`},
		"FileFolder": {reason: "A path is a file or a folder.", files: Files{"a": nil, "a/b": nil}, want: `"a" is a file and a folder`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Encode(tc.files)
			if err == nil {
				t.Fatalf("\n%s\nEncode(...): want an error", tc.reason)
			}
			if !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("\n%s\nEncode(...): -want error, +got error:\n%s", tc.reason, cmp.Diff(tc.want, err.Error()))
			}
			if e := (&TooLargeError{}); name == "TooLarge" && !errors.As(err, &e) {
				t.Errorf("\n%s\nEncode(...): %T is not a TooLargeError", tc.reason, err)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := archive(t, file("a.yaml", "a"))
	tooMany := make([]entryOf, MaxFiles+1)
	for i := range tooMany {
		tooMany[i] = file(fmt.Sprintf("f%d", i), "")
	}
	cases := map[string]struct {
		reason string
		bytes  []byte
	}{
		"Nothing":       {reason: "Empty bytes are not an archive.", bytes: nil},
		"NotCompressed": {reason: "Bytes that are not compressed are refused.", bytes: []byte("hello")},
		"TooLong":       {reason: "More bytes than fit are not even looked at.", bytes: make([]byte, MaxEncodedBytes+1)},
		"Bomb": {
			reason: "An archive that grows past the bound.",
			bytes:  archive(t, file("a", strings.Repeat("\x00", MaxBytes)), file("b", strings.Repeat("\x00", MaxBytes))),
		},
		"Zeros":  {reason: "Zeros after the end of an archive that never end.", bytes: zipped(t, make([]byte, 3*MaxBytes))},
		"Sparse": {reason: "A file of a few bytes that says to have a terabyte of zeros.", bytes: sparse(t)},
		"Symlink": {
			reason: "A symbolic link in an archive is refused.",
			bytes:  archive(t, entryOf{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc/passwd"}}),
		},
		"HardLink": {
			reason: "A hard link in an archive is refused.",
			bytes:  archive(t, entryOf{Header: tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "b"}}),
		},
		"Folder":       {reason: "An archive with a folder entry is refused.", bytes: archive(t, entryOf{Header: tar.Header{Typeflag: tar.TypeDir, Name: "a/"}})},
		"Device":       {reason: "An archive with a device is refused.", bytes: archive(t, entryOf{Header: tar.Header{Typeflag: tar.TypeChar, Name: "a"}})},
		"Parent":       {reason: "A path stays in its directory.", bytes: archive(t, file("../a", ""))},
		"Absolute":     {reason: "A path stays in its directory.", bytes: archive(t, file("/a", ""))},
		"Twice":        {reason: "An archive with one file twice is refused.", bytes: archive(t, file("a", "1"), file("a", "2"))},
		"FileFolder":   {reason: "A path is a file or a folder.", bytes: archive(t, file("a", "1"), file("a/b", "2"))},
		"TooMany":      {reason: "The number of files is bounded.", bytes: archive(t, tooMany...)},
		"Trailing":     {reason: "Bytes after the end of an archive are refused.", bytes: append(bytes.Clone(good), "more"...)},
		"SecondStream": {reason: "A second compressed stream after the archive is refused.", bytes: append(bytes.Clone(good), good...)},
		"AfterTheEnd":  {reason: "Bytes after the end of the archive within the compressed data are refused.", bytes: zipped(t, append(unzipped(t, good), 1))},
		"Cut":          {reason: "An archive that was cut off.", bytes: good[:len(good)-9]},
		"Checksum":     {reason: "An archive with a wrong checksum is refused.", bytes: append(bytes.Clone(good[:len(good)-8]), 1, 2, 3, 4, 5, 6, 7, 8)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if f, err := Decode(tc.bytes); err == nil {
				t.Errorf("\n%s\nDecode(...): want an error, got %d files", tc.reason, len(f))
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, files := range []Files{{}, {"a.yaml": []byte("a: 1\n")}, {"a/b": nil, "c": []byte("d")}} {
		b, err := Encode(files)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		defer soak.Input(t)()
		files, err := Decode(b)
		if err != nil {
			return
		}
		if err := files.Validate(); err != nil {
			t.Errorf("Decode(...): accepted %s", err)
		}
		if _, err := Encode(files); err != nil {
			if e := (&TooLargeError{}); !errors.As(err, &e) {
				t.Errorf("Encode(Decode(...)): %s", err)
			}
		}
	})
}

type entryOf struct {
	tar.Header

	content string
}

func file(name, content string) entryOf {
	return entryOf{Header: tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}, content: content}
}

func archive(t *testing.T, entries ...entryOf) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped(t, b.Bytes())
}

// sparse is an archive with one file of GNU's sparse format 1.0: its data is a map of no parts.
func sparse(t *testing.T) []byte {
	t.Helper()
	var records strings.Builder
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=a", "GNU.sparse.realsize=1099511627776"} {
		// A record begins with its own length: two digits, a space, and a line break at the end.
		fmt.Fprintf(&records, "%d %s\n", len(r)+4, r)
	}
	data := "0\n" + strings.Repeat("\x00", 510)
	raw := header(t, "x", 'x', len(records.String())) + padded(records.String()) + header(t, "a", '0', len(data)) + data
	return zipped(t, []byte(raw+strings.Repeat("\x00", 1024)))
}

func padded(s string) string { return s + strings.Repeat("\x00", (512-len(s)%512)%512) }

func header(t *testing.T, name string, typ byte, size int) string {
	t.Helper()
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x0000000000000\x00", size))
	copy(h[148:], "        ")
	h[156] = typ
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(h)
}

func zipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
