package sentence

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/intentplane/intentplane/apis/measure"
)

// digits are a number and, right behind it, perhaps its unit.
var digits = regexp.MustCompile(`^([0-9]+(?:[.][0-9]+)?)([A-Za-z%][A-Za-z/]*)?$`)

func numbersBelowTwenty() []string {
	return []string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
		"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
}

func multiplesOfTen() []string {
	return []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
}

// parseSmallNumber returns the number that a word below one hundred stands for.
func parseSmallNumber(word string) (int, bool) {
	if i := slices.Index(numbersBelowTwenty(), word); i >= 0 {
		return i, true
	}
	ten, unit, hasUnit := strings.Cut(word, "-")
	i := slices.Index(multiplesOfTen(), ten)
	if i < 2 {
		return 0, false
	}
	j := slices.Index(numbersBelowTwenty(), unit)
	if hasUnit && (j < 1 || j > 9) {
		return 0, false
	}
	return i*10 + max(j, 0), true
}

// readNumber reads a number and the unit that is written right behind it.
func (p *parser) readNumber() (value, unit string, ok bool) {
	t := p.peekNextToken()
	if t.quoted {
		return "", "", false
	}
	if found := digits.FindStringSubmatch(t.text); found != nil {
		value, ok = measure.Decimal(found[1])
		if ok {
			p.at++
		}
		return value, found[2], ok
	}
	n, ok := parseSmallNumber(t.lower)
	if !ok {
		return "", "", false
	}
	p.at++
	for factor := p.readNumberFactor(); factor > 0; factor = p.readNumberFactor() {
		n *= factor
	}
	return strconv.Itoa(n), "", true
}

// readNumberFactor reads the factor of a number word. There is one, as in three hundred.
func (p *parser) readNumberFactor() int {
	previous := p.tokens[p.at-1].lower
	switch p.peekNextToken().lower {
	case "hundred":
		if previous != "hundred" && previous != "thousand" {
			p.at++
			return 100
		}
	case "thousand":
		if previous != "hundred" && previous != "thousand" {
			p.at++
			return 1000
		}
	}
	return 0
}

// readAmount reads a number and its unit, whether written together or apart.
func (p *parser) readAmount() (value, unit string, ok bool) {
	value, unit, ok = p.readNumber()
	if !ok || unit != "" {
		return value, unit, ok
	}
	next := p.peekNextToken().text
	if _, memory := memoryUnitSuffix(next); memory || measure.IsUnit(next) {
		p.at++
		return value, next, true
	}
	return value, "", true
}

// isNumberToken reports whether a token is a number, or begins one.
func isNumberToken(t token) bool {
	_, word := parseSmallNumber(t.lower)
	return word || !t.quoted && digits.MatchString(t.text)
}

func siteItemPath(i int) string { return "sites[" + strconv.Itoa(i) + "]" }
