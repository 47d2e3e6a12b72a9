package transport

import "bytes"

// A Transcript keeps the beginning of a server's message to users.
type Transcript struct {
	text []byte
}

// mostSaid is how many bytes of it are kept.
const mostSaid = 4096

// String returns the lines that were kept as a whole: half a credential would
// not be known as one.
func (t *Transcript) String() string {
	if len(t.text) < mostSaid {
		return string(t.text)
	}
	return string(t.text[:bytes.LastIndexByte(t.text, '\n')+1])
}

// Write keeps the text that fits and accepts all of it.
func (t *Transcript) Write(p []byte) (int, error) {
	if room := mostSaid - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
