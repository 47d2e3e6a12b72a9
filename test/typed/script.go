package typed

import (
	"fmt"
	"regexp"
	"strings"
)

// begun is the text that a script prints before each block.
const begun = "@@ typed "

// A Script is the input of a reader.
type Script struct {
	// Text for bash. It ends with the first command that fails.
	Text string
	// Typed counts the blocks in it, and Skipped the blocks that are marked.
	Typed   int
	Skipped int
}

// export is a line with a value that every reader replaces.
var export = regexp.MustCompile(`(?m)^export ([A-Z_]+)=(\S*)`)

// NewScript returns the script of blocks, with the reader's own values in place of the values of "export NAME=value".
func NewScript(blocks []Block, values map[string]string) Script {
	s := Script{Text: "set -euo pipefail\n" + look}
	for _, b := range blocks {
		if b.Skip != "" {
			s.Skipped++
			continue
		}
		if b.showsOutput() {
			continue
		}
		s.Typed++
		s.Text += fmt.Sprintf("echo '%s%s'\n%s\n", begun, b.Place(), b.shellScript(values))
	}
	return s
}

func (b Block) shellScript(values map[string]string) string {
	switch b.Language {
	case Console:
		return strings.Join(b.typedCommands(), "")
	case YAML:
		return b.applyScript()
	}
	return export.ReplaceAllStringFunc(b.Text, func(line string) string {
		name := export.FindStringSubmatch(line)[1]
		if v, ok := values[name]; ok {
			return "export " + name + "=" + v
		}
		return line
	})
}

// look lets the API server look at an object as it would at a reader's object, and keeps nothing. It does not merge the object with an
// existing object.
const look = `look() {
  file="$(mktemp)"
  cat >"$file"
  verb=create
  if kubectl get -f "$file" >/dev/null 2>&1; then verb=replace; fi
  kubectl "$verb" --dry-run=server --validate=strict -f "$file"
}
`

// applyScript makes the API server look at objects, and keeps them only where a mark says so.
func (b Block) applyScript() string {
	command := "look"
	if b.Apply {
		command = "kubectl apply --validate=strict -f -"
	}
	out := strings.Builder{}
	for doc := range strings.SplitSeq(b.Text, "\n---\n") {
		out.WriteString(command + " <<'END-OF-BLOCK'\n" + strings.TrimSuffix(doc, "\n") + "\nEND-OF-BLOCK\n")
	}
	return out.String()
}

// Outputs returns the output of each block of a script, by its place.
func Outputs(output string) map[string]string {
	out := map[string]string{}
	_, rest, found := strings.Cut(output, begun)
	for found {
		var block string
		block, rest, found = strings.Cut(rest, begun)
		place, text, _ := strings.Cut(block, "\n")
		out[place] = text
	}
	return out
}

// Last returns the place of the last block that a script began, from its output.
func Last(output string) string {
	i := strings.LastIndex(output, begun)
	if i < 0 {
		return "the beginning"
	}
	place, _, _ := strings.Cut(output[i+len(begun):], "\n")
	return place
}
