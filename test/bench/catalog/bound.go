package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// The relations of a value and the limit of a bound.
const (
	atMost  = "≤"
	atLeast = "≥"
	exactly = "="
)

// A Bound is the values that a figure may have, written as in "≤ 50", "≥ 20" or "= 0". The zero Bound admits every value.
type Bound struct { //nolint:recvcheck // UnmarshalText alone changes a Bound.
	relation string
	limit    float64
}

// Admits is true if a value is within the bound.
func (b Bound) Admits(value float64) bool {
	switch b.relation {
	case atMost:
		return value <= b.limit
	case atLeast:
		return value >= b.limit
	case exactly:
		return value == b.limit
	}
	return true
}

// String writes the bound as a catalog does. The zero Bound is empty.
func (b Bound) String() string {
	if b.relation == "" {
		return ""
	}
	return fmt.Sprintf("%s %s", b.relation, formatNumber(b.limit))
}

// MarshalText writes the bound as String does.
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the output of MarshalText. It returns an error for another text.
func (b *Bound) UnmarshalText(text []byte) error {
	relation, limit, _ := strings.Cut(string(text), " ")
	value, err := strconv.ParseFloat(limit, 64)
	if err != nil || relation != atMost && relation != atLeast && relation != exactly {
		return errors.Errorf(`cannot read bound %q: want "≤ 50", "≥ 50" or "= 50"`, text)
	}
	*b = Bound{relation: relation, limit: value}
	return nil
}

// formatNumber writes a number with four digits that count, and never with an exponent.
func formatNumber(value float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 4, 64), 64)
	if err != nil {
		rounded = value
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
