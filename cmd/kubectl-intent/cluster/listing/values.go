package listing

import (
	"bufio"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A values reads values of JSON one after another. It finds where each value ends by its brackets and its strings, which takes a fraction of the time of decoding
// it. The decoder of a value finds the errors within.
type values struct {
	*bufio.Reader

	// size of the value that was read last: the next one may have about as many bytes.
	size int
}

// readElements calls read at the begin of each element of an array, or of each field of an object, up to its closing bracket.
func (v *values) readElements(closing byte, read func() error) error {
	for isFirst := true; ; isFirst = false {
		next, err := v.peekNonBlank()
		if err != nil {
			return err
		}
		if next == closing {
			return v.expectDelimiter(closing)
		}
		if !isFirst {
			if err := v.expectDelimiter(','); err != nil {
				return err
			}
		}
		if err := read(); err != nil {
			return err
		}
	}
}

// readJSONValue reads one value, into memory of its own.
func (v *values) readJSONValue() ([]byte, error) {
	begin, err := v.peekNonBlank()
	if err != nil {
		return nil, err
	}
	s, out := scanner{}, make([]byte, 0, v.size)
	for isEnd := false; !isEnd; {
		if _, err := v.Peek(1); err != nil {
			return nil, unexpectedEnd(err)
		}
		buffered, _ := v.Peek(v.Buffered()) // It is buffered.
		var n int
		n, isEnd = s.scanValueBytes(buffered)
		out = append(out, buffered[:n]...)
		_, _ = v.Discard(n)
	}
	if len(out) == 0 {
		return nil, errors.Errorf("the answer is not a list: expected a value, got %c", begin)
	}
	v.size = len(out)
	return out, nil
}

// expectDelimiter reads a bracket, a comma or a colon.
func (v *values) expectDelimiter(want byte) error {
	got, err := v.peekNonBlank()
	if err != nil {
		return err
	}
	if got != want {
		return errors.Errorf("the answer is not a list: expected %c, got %c", want, got)
	}
	_, err = v.Discard(1)
	return err
}

// peekNonBlank returns the next byte that is not blank, and leaves it to be read.
func (v *values) peekNonBlank() (byte, error) {
	for {
		next, err := v.Peek(1)
		if err != nil {
			return 0, unexpectedEnd(err)
		}
		if !isBlankByte(next[0]) {
			return next[0], nil
		}
		_, _ = v.Discard(1)
	}
}

// unexpectedEnd returns the error of a reader, where an end is one within a value.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isBlankByte(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// A scanner finds the end of one value, which begins with the first byte that it gets.
type scanner struct {
	depth               int
	isString, isEscaped bool
}

// scanValueBytes returns how many of the bytes belong to the value, and whether it ends with them. The value of a number or a word ends before the byte that follows it.
func (s *scanner) scanValueBytes(b []byte) (n int, isEnd bool) {
	for i, c := range b {
		if s.isString {
			s.scanStringByte(c)
			if !s.isString && s.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch c {
		case '"':
			s.isString = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth == 0 {
				return i, true
			}
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if s.depth == 0 {
				return i, true
			}
		}
	}
	return len(b), false
}

// scanStringByte scans a byte of a string.
func (s *scanner) scanStringByte(c byte) {
	switch {
	case s.isEscaped:
		s.isEscaped = false
	case c == '\\':
		s.isEscaped = true
	case c == '"':
		s.isString = false
	}
}

// withoutManagedFields returns an object without the value of metadata.managedFields. An object without the field, and a malformed one, is returned as it is.
func withoutManagedFields(object []byte) []byte {
	metadata, metadataEnd := findFieldValue(object, `"metadata"`)
	begin, end := findFieldValue(object[metadata:metadataEnd], `"managedFields"`)
	if begin == end {
		return object
	}
	return slices.Replace(object, metadata+begin, metadata+end, []byte("null")...)
}

// findFieldValue returns where the value of a field of an object begins and ends, or zeros if there is none. The name is quoted.
func findFieldValue(object []byte, name string) (begin, end int) {
	i := skipBlanks(object, 0)
	for i < len(object) && object[i] != '}' {
		key := skipBlanks(object, i+1) // Behind the bracket, or a comma.
		colon := findValueEnd(object, key)
		begin = skipBlanks(object, skipBlanks(object, colon)+1)
		end = findValueEnd(object, begin)
		if begin == end {
			return 0, 0
		}
		if string(object[key:colon]) == name {
			return begin, end
		}
		i = skipBlanks(object, end)
	}
	return 0, 0
}

// findValueEnd returns where the value that begins at an index ends, or the index itself if it has no end.
func findValueEnd(b []byte, begin int) int {
	if begin >= len(b) {
		return begin
	}
	s := scanner{}
	n, isEnd := s.scanValueBytes(b[begin:])
	if !isEnd {
		return begin
	}
	return begin + n
}

// skipBlanks returns the index of the first byte from an index that is not blank.
func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlankByte(b[i]) {
		i++
	}
	return i
}
