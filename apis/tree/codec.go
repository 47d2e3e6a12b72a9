package tree

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const fileMode = 0o644

// TooLargeError reports files that do not fit into one object.
type TooLargeError struct {
	// Encoded is the size of the encoded files, in bytes.
	Encoded int

	// Files is the number of files.
	Files int
}

// Error names the numbers.
func (e *TooLargeError) Error() string {
	return errors.Errorf("%d files have %d bytes encoded, more than the %d that fit", e.Files, e.Encoded, MaxEncodedBytes).Error()
}

// A writer and a reader have tables of many times the size of most trees, so they are used again.
var (
	writers = sync.Pool{New: func() any { //nolint:gochecknoglobals // A pool has no state that a caller sees.
		z, _ := gzip.NewWriterLevel(nil, gzip.BestCompression) // It returns an error for another level alone.
		return z
	}}
	readers = sync.Pool{New: func() any { return &gzip.Reader{} }} //nolint:gochecknoglobals // As above.
)

// Encode packs files into a compressed archive. The same files give the same bytes. It returns a TooLargeError for files that do
// not fit, and another error for files that may not be in a tree.
func Encode(f Files) ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, _ := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	z.Reset(&b)
	if err := writeArchive(z, f); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, errors.Wrap(err, "cannot compress files")
	}
	if b.Len() > MaxEncodedBytes {
		return nil, &TooLargeError{Encoded: b.Len(), Files: len(f)}
	}
	return b.Bytes(), nil
}

func writeArchive(w io.Writer, f Files) error {
	t := tar.NewWriter(w)
	for _, name := range f.Names() {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: fileMode, Size: int64(len(f[name]))}); err != nil {
			return errors.Wrapf(err, "cannot pack %s", name)
		}
		if _, err := t.Write(f[name]); err != nil {
			return errors.Wrapf(err, "cannot pack %s", name)
		}
	}
	return errors.Wrap(t.Close(), "cannot pack files")
}

// Decode unpacks an archive that Encode packed. It returns an error for an archive that exceeds the bounds or has data after
// its end, that holds an entry other than a regular file, or a path that may not be in a tree.
func Decode(b []byte) (Files, error) {
	if len(b) > MaxEncodedBytes {
		return nil, errors.Errorf("%d bytes are more than the %d that fit", len(b), MaxEncodedBytes)
	}
	packed := bytes.NewReader(b)
	z, _ := readers.Get().(*gzip.Reader)
	defer readers.Put(z)
	if err := z.Reset(packed); err != nil {
		return nil, errors.Wrap(err, "cannot decompress files")
	}
	z.Multistream(false)
	// Room for the archive's own headers, so that files at the bound still decode.
	f, err := readArchive(tar.NewReader(io.LimitReader(z, MaxBytes+MaxFiles*2048)))
	if err != nil {
		return nil, err
	}
	// Reading to the end checks the checksum too.
	if n, err := io.CopyN(io.Discard, z, 1); n != 0 || !errors.Is(err, io.EOF) || packed.Len() != 0 {
		return nil, errors.New("cannot unpack files: the archive does not end where it should")
	}
	return f, f.Validate()
}

func readArchive(t *tar.Reader) (Files, error) {
	f, size := Files{}, int64(0)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return nil, errors.Wrap(err, "cannot unpack files")
		}
		// Sizes are checked before anything is read: a sparse file of a few bytes can have terabytes.
		if size += h.Size; size > MaxBytes {
			return nil, errors.Errorf("%d bytes are more than the %d that a tree may hold", size, MaxBytes)
		}
		if err := readArchiveFile(t, h, f); err != nil {
			return nil, err
		}
	}
}

func readArchiveFile(t *tar.Reader, h *tar.Header, f Files) error {
	if h.Typeflag != tar.TypeReg {
		return errors.Errorf("%q is not a regular file", h.Name)
	}
	if _, ok := f[h.Name]; ok || len(f) >= MaxFiles {
		return errors.Errorf("%q comes twice, or is one file too many", h.Name)
	}
	if err := ValidatePath(h.Name); err != nil {
		return err
	}
	content, err := io.ReadAll(t)
	f[h.Name] = content
	return errors.Wrapf(err, "cannot unpack %s", h.Name)
}
