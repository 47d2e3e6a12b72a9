package scene

import "strings"

// A Row is one line of kubectl's output, by the names of the columns.
type Row map[string]string

// ParseTable returns the rows of one or more tables, as kubectl get prints them, by their first column.
func ParseTable(out string) map[string]Row {
	rows := map[string]Row{}
	var head []column
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "NAME ") {
			head = parseColumns(line)
			continue
		}
		if row := parseTableRow(head, line); row["NAME"] != "" {
			rows[row["NAME"]] = row
		}
	}
	return rows
}

type column struct {
	name string
	at   int
}

// parseColumns returns the columns of a head. Names are separated by blanks and have none in them.
func parseColumns(head string) []column {
	var out []column
	offset := 0
	for name := range strings.FieldsSeq(head) {
		offset += strings.Index(head[offset:], name)
		out = append(out, column{name: name, at: offset})
		offset += len(name)
	}
	return out
}

func parseTableRow(head []column, line string) Row {
	row := Row{}
	for i, c := range head {
		end := len(line)
		if i+1 < len(head) {
			end = min(end, head[i+1].at)
		}
		if c.at < end {
			row[c.name] = strings.TrimSpace(line[c.at:end])
		}
	}
	return row
}
