package oneline

import (
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// CheckUTF8 returns an error that names the encoding of a text in another one than UTF-8, as far as its first bytes show it. JSON, and so the API of
// Kubernetes, replaces the bytes of other encodings.
func CheckUTF8(text string) error {
	// UTF-16 without a mark has a NUL beside each ASCII character, and UTF-32 has three.
	isWide := strings.Count(text, "\x00") > len(text)/4 //nolint:mnd // A text in UTF-8 has none.
	switch {
	case strings.HasPrefix(text, "\xff\xfe\x00\x00"), strings.HasPrefix(text, "\x00\x00\xfe\xff"):
		return errors.New("is in UTF-32: save it in UTF-8")
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		return errors.New("is in UTF-16: save it in UTF-8")
	case isWide:
		return errors.New("has NUL bytes, as a text in UTF-16 does: save it in UTF-8")
	case !utf8.ValidString(text):
		return errors.New("is not text in UTF-8: save it in UTF-8")
	}
	return nil
}
