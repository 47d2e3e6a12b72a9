package account

const (
	// Approximate memory of JSON values: a map with few entries, a list, and any value.
	mapMemory, listMemory, valueMemory = 350, 48, 48
)

// A jsonCounter counts bytes of JSON, and the memory of its decoded values. It counts text that is not JSON, too.
type jsonCounter struct {
	bytes, decoded    int64
	depth             int
	inString, escaped bool
}

// countJSONText counts a text, or only its first value on request. It returns how much it counted, and whether the value ended.
func (c *jsonCounter) countJSONText(p []byte, isSingle bool) (int, bool) {
	for i, b := range p {
		c.bytes++
		c.decoded++
		switch {
		case c.inString:
			c.countInString(b)
		case c.countStructure(b) && isSingle:
			return i + 1, true
		}
	}
	return len(p), false
}

func (c *jsonCounter) countInString(b byte) {
	switch {
	case c.escaped:
		c.escaped = false
	case b == '\\':
		c.escaped = true
	case b == '"':
		c.inString = false
	}
}

// countStructure returns true where the outermost value ends.
func (c *jsonCounter) countStructure(b byte) bool {
	switch b {
	case '"':
		c.inString = true
	case '{':
		c.depth, c.decoded = c.depth+1, c.decoded+mapMemory
	case '[':
		c.depth, c.decoded = c.depth+1, c.decoded+listMemory
	case ',', ':':
		c.decoded += valueMemory
	case '}', ']':
		c.depth--
		return c.depth <= 0
	}
	return false
}

// MemoryOf returns about how much memory a decoded value takes, in bytes.
func MemoryOf(v any) int64 {
	switch v := v.(type) {
	case map[string]any:
		size := int64(mapMemory)
		for key, value := range v {
			size += int64(len(key)) + MemoryOf(value)
		}
		return size
	case []any:
		size := int64(listMemory)
		for _, value := range v {
			size += MemoryOf(value)
		}
		return size
	case string:
		return valueMemory + int64(len(v))
	}
	return valueMemory
}
