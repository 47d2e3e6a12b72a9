package subject

import (
	"strconv"
	"strings"
)

// StepNumber returns the number of a step such as 3/5. It is false for other text.
func StepNumber(step string) (int32, bool) {
	text, _, _ := strings.Cut(step, "/")
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil
}
