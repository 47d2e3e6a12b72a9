// Package measure reads numbers with units, exactly, into one form each: 0.5 s and 500 ms are the same amount.
package measure

import (
	"math/big"
	"regexp"
	"strings"
)

// Units that amounts are in.
const (
	// Milliseconds are the unit of durations.
	Milliseconds = "ms"

	// Mbps are megabits per second, which throughput is in.
	Mbps = "Mbps"

	// Percent are hundredths.
	Percent = "%"

	// None is the unit of a bare number.
	None = ""
)

// numberPattern matches a valid number: an exponent could stand for more digits than there is memory.
var numberPattern = regexp.MustCompile(`^[0-9]{1,15}([.][0-9]{1,9})?$`)

// An Amount is a number and its unit, in canonical form.
type Amount struct {
	// Value in decimal notation, without needless zeros.
	Value string

	// Unit of the value.
	Unit string
}

// String returns the amount as it is written in thresholds.
func (a Amount) String() string { return a.Value + a.Unit }

// Decimal returns a number in decimal notation without needless zeros. It returns false for a text that is not a number,
// that has a sign or an exponent, or that has more than 15 digits before its point or 9 behind it.
func Decimal(s string) (string, bool) {
	if !numberPattern.MatchString(s) {
		return "", false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return "", false
	}
	return formatDecimal(r), true
}

// Of returns the amount of a number in a unit as it is written, or false when one of them is unknown.
func Of(value, unit string) (Amount, bool) {
	u, ok := unitFromWord(unit)
	if !ok || !numberPattern.MatchString(value) {
		return Amount{}, false
	}
	a := Amount{Value: scaleDecimal(value, u.times, u.over), Unit: u.canonical}
	return a, numberPattern.MatchString(a.Value) // The formatted value parses to the same value.
}

// Parse reads a number and its unit, such as 500ms or 99.9 %. It returns false when one of them is unknown.
func Parse(s string) (Amount, bool) {
	s = strings.TrimSpace(s)
	end := len(s) - len(strings.TrimLeft(s, "0123456789."))
	return Of(s[:end], strings.TrimSpace(s[end:]))
}

// In returns the value of the amount in a unit, or false for a unit of something else, and for a value that has more digits than a
// number may. A share of one has no unit, and is a hundredth for each percent.
func (a Amount) In(unit string) (string, bool) {
	u, ok := unitFromWord(unit)
	if !ok || !numberPattern.MatchString(a.Value) {
		return "", false
	}
	value := a.Value
	if a.Unit == Percent && u.canonical == None {
		value = Hundredth(value)
	}
	if a.Unit != u.canonical && (a.Unit != Percent || u.canonical != None) {
		return "", false
	}
	value = scaleDecimal(value, u.over, u.times)
	return value, numberPattern.MatchString(value)
}

// Hundredth returns a percentage as a share of one.
func Hundredth(value string) string { return scaleDecimal(value, 1, 100) }

// IsUnit reports whether a word is a unit.
func IsUnit(word string) bool {
	_, ok := unitFromWord(word)
	return ok && word != None
}

type unit struct {
	canonical   string
	times, over int64
}

// unitFromWord returns a unit. Letters keep their case: MBps are bytes, and a Gb is not a GB.
func unitFromWord(word string) (unit, bool) {
	switch word {
	case None:
		return unit{None, 1, 1}, true
	case "%", "percent":
		return unit{Percent, 1, 1}, true
	case "us", "microsecond", "microseconds":
		return unit{Milliseconds, 1, 1000}, true
	case "ms", "msec", "millisecond", "milliseconds":
		return unit{Milliseconds, 1, 1}, true
	case "s", "sec", "second", "seconds":
		return unit{Milliseconds, 1000, 1}, true
	case "kbps", "Kbps", "kbit/s":
		return unit{Mbps, 1, 1000}, true
	case "Mbps", "mbps", "Mbit/s":
		return unit{Mbps, 1, 1}, true
	case "Gbps", "gbps", "Gbit/s":
		return unit{Mbps, 1000, 1}, true
	}
	return unit{}, false
}

// scaleDecimal multiplies a number. The divisor is a power of ten, so that the result has an end.
func scaleDecimal(value string, numerator, denominator int64) string {
	r, ok := new(big.Rat).SetString(value)
	if !ok {
		return value
	}
	return formatDecimal(r.Mul(r, big.NewRat(numerator, denominator)))
}

func formatDecimal(r *big.Rat) string {
	s := r.FloatString(15)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Above reports whether a number in decimal notation is more than another number.
func Above(value string, limit int) bool {
	r, ok := new(big.Rat).SetString(value)
	return ok && r.Cmp(big.NewRat(int64(limit), 1)) > 0
}
