package oneline

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

// encodeUTF16 encodes a text in UTF-16.
func encodeUTF16(order binary.AppendByteOrder, text string) string {
	out := []byte{}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// encodeUTF32 encodes a text in UTF-32.
func encodeUTF32(order binary.AppendByteOrder, text string) string {
	out := []byte{}
	for _, r := range text {
		out = order.AppendUint32(out, uint32(r))
	}
	return string(out)
}

func TestCheckUTF8(t *testing.T) {
	const object, mark = "kind: ConfigMap\n", "\ufeff"
	cases := map[string]struct {
		reason, text, want string
	}{
		"Plain":    {reason: "ASCII is UTF-8.", text: object},
		"Empty":    {reason: "A file without bytes is text."},
		"Letters":  {reason: "Letters of other scripts are text.", text: "a: größe 世界 🙂\n"},
		"Marked":   {reason: "UTF-8 with a byte order mark is UTF-8.", text: mark + object},
		"Carriage": {reason: "Ends of lines of Windows are text.", text: "a: b\r\n"},
		"OneNUL":   {reason: "A single NUL does not make UTF-16; YAML refuses it.", text: "a: b and c\x00"},
		"Little": {
			reason: "Windows PowerShell writes little-endian UTF-16.",
			text:   encodeUTF16(binary.LittleEndian, mark+object), want: "is in UTF-16: save it in UTF-8",
		},
		"Big": {reason: "The mark shows big-endian UTF-16.", text: encodeUTF16(binary.BigEndian, mark+object), want: "is in UTF-16: save it in UTF-8"},
		"Scripts": {
			reason: "UTF-16 without ASCII has no NULs, and a mark.",
			text:   encodeUTF16(binary.LittleEndian, mark+"世界"), want: "is in UTF-16: save it in UTF-8",
		},
		"MarkAlone": {
			reason: "A file of PowerShell may have the mark alone.",
			text:   encodeUTF16(binary.LittleEndian, mark), want: "is in UTF-16: save it in UTF-8",
		},
		"LittleNoMark": {
			reason: "A NUL beside each letter is UTF-16.",
			text:   encodeUTF16(binary.LittleEndian, object), want: "has NUL bytes, as a text in UTF-16 does: save it in UTF-8",
		},
		"BigNoMark": {
			reason: "The NUL may come first.",
			text:   encodeUTF16(binary.BigEndian, object), want: "has NUL bytes, as a text in UTF-16 does: save it in UTF-8",
		},
		"Little32": {
			reason: "The mark of UTF-32 begins as that of UTF-16.",
			text:   encodeUTF32(binary.LittleEndian, mark+object), want: "is in UTF-32: save it in UTF-8",
		},
		"Big32":       {reason: "The mark shows big-endian UTF-32.", text: encodeUTF32(binary.BigEndian, mark+object), want: "is in UTF-32: save it in UTF-8"},
		"Latin1":      {reason: "JSON would replace the letters of Latin-1.", text: "a: gr\xf6\xdfe\n", want: "is not text in UTF-8: save it in UTF-8"},
		"Windows1252": {reason: "JSON would replace the quotes of Windows-1252.", text: "a: \x93b\x94\n", want: "is not text in UTF-8: save it in UTF-8"},
		"Binary":      {reason: "A picture is not text.", text: "\x89PNG\r\n\x1a\n\x00\x00", want: "is not text in UTF-8: save it in UTF-8"},
		"Cut":         {reason: "A letter may be cut at the end of a file.", text: "a: \xe4\xb8", want: "is not text in UTF-8: save it in UTF-8"},
		"Surrogates":  {reason: "Halves of pairs are not UTF-8.", text: "a: \xed\xa0\xbd\xed\xb8\x80", want: "is not text in UTF-8: save it in UTF-8"},
		"Overlong":    {reason: "A longer form of a letter is not UTF-8.", text: "a: \xc0\xaf", want: "is not text in UTF-8: save it in UTF-8"},
		"ManyNULs":    {reason: "A file full of NULs is not YAML.", text: "\x00\x00\x00\x00", want: "has NUL bytes, as a text in UTF-16 does: save it in UTF-8"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckUTF8(tc.text); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("\n%s\nCheckUTF8(...): want error %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
