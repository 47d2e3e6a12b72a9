package manifest

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LineOfField returns the number of the line in its file that holds a field, or as much of the field's path as there is.
func (d Document) LineOfField(field string) int {
	if d.list != nil {
		return d.list.lineOfField(d.item + "." + field)
	}
	n := yaml.Node{}
	if err := yaml.Unmarshal(d.Text, &n); err != nil {
		return d.before + 1
	}
	return lineInDocument(&n, d.before, field)
}

// lineInDocument returns the number of a line, in a document that so many lines come before.
func lineInDocument(n *yaml.Node, offset int, path string) int {
	if len(n.Content) == 0 {
		return offset + 1
	}
	return offset + lineBelowNode(n.Content[0], n.Content[0].Line, path)
}

// lineBelowNode follows a path such as spec.checks[0].name down from a node, which begins at a line.
func lineBelowNode(n *yaml.Node, line int, path string) int {
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			if rest, ok := cutPathKey(path, strconv.Itoa(i)); ok {
				return lineBelowNode(item, item.Line, rest)
			}
		}
		return line
	}
	// The content of a mapping is a key, its value, the next key.
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if rest, ok := cutPathKey(path, n.Content[i].Value); ok {
			return lineBelowNode(n.Content[i+1], n.Content[i].Line, rest)
		}
	}
	return line
}

// cutPathKey takes a key from the beginning of a path, as .key or [key].
func cutPathKey(path, key string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "["+key+"]"); ok {
		return rest, true
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "."), key)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// yamlLine is how a parser says where it is.
var yamlLine = regexp.MustCompile(`\bline ([0-9]+)\b`)

// LocateParserError returns the number of the line that the error of a parser names, and its message on one line. The parser saw the document,
// and counts from there.
func (d Document) LocateParserError(err error) (int, string) {
	first := 0
	message := yamlLine.ReplaceAllStringFunc(err.Error(), func(found string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(found, "line "))
		if n += d.before; first == 0 {
			first = n
		}
		return "line " + strconv.Itoa(n)
	})
	return max(first, d.before+1), strings.Join(strings.Fields(message), " ")
}
