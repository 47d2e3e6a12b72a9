package terminal

import (
	"os"
	"testing"
)

func TestColours(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases := map[string]struct {
		reason string
		out    *os.File
		env    map[string]string
		want   Palette
	}{
		"Terminal": {reason: "A terminal shows colours by default.", out: terminal, want: true},
		"File":     {reason: "A file gets no colours.", out: file},
		"NoColor":  {reason: "NO_COLOR turns colours off on a terminal.", out: terminal, env: map[string]string{"NO_COLOR": "1"}},
		"Dumb":     {reason: "A terminal without colours gets none.", out: terminal, env: map[string]string{"TERM": "dumb"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := PaletteOf(tc.out, func(name string) string { return tc.env[name] }); got != tc.want {
				t.Errorf("\n%s\nPaletteOf(...): want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
