package shellscript

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// settings are the options of a shell that change the exit code of a script, as far as they are set somewhere.
type settings struct {
	// endsAtFailure, endsAtUnset and pipesFail are the options errexit, nounset and pipefail.
	endsAtFailure, endsAtUnset, pipesFail bool

	// knowsPipefail says that the shell has the option pipefail. Other shells end at it.
	knowsPipefail bool

	// readsScript is the option -c.
	readsScript bool
}

// Options of the builtin set, and of a shell, that change nothing else about the exit code of a script.
var (
	setOption   = regexp.MustCompile(`^[-+][eouvx]+$`)
	shellOption = regexp.MustCompile(`^(?:[-+][celouvx]+|--(?:login|noprofile|norc|posix))$`)
)

// settingsOfShell returns the settings of a shell without options.
func settingsOfShell(shell string) settings {
	return settings{knowsPipefail: slices.Contains([]string{"ash", "bash"}, path.Base(shell))}
}

// readOptions reads the options at the beginning of some words, and returns the words behind them. It is false for an option that is not known.
func (s *settings) readOptions(words []string, allowed *regexp.Regexp) ([]string, bool) {
	for len(words) > 0 {
		option := words[0]
		if option == "--" {
			return words[1:], true
		}
		if !allowed.MatchString(option) {
			return words, !strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "+")
		}
		if words = words[1:]; !s.applyOption(option, words) {
			return nil, false
		}
		if takesOptionName(option) {
			words = words[1:]
		}
	}
	return nil, true
}

// takesOptionName reports whether the word behind an option is the name of another option.
func takesOptionName(option string) bool {
	return !strings.HasPrefix(option, "--") && strings.Contains(option, "o")
}

// applyOption sets an option. It is false for an option whose name is not known, or missing.
func (s *settings) applyOption(option string, names []string) bool {
	if strings.HasPrefix(option, "--") {
		return true
	}
	isOn := option[0] == '-'
	s.endsAtFailure = s.endsAtFailure || isOn && strings.Contains(option, "e")
	s.endsAtUnset = s.endsAtUnset || isOn && strings.Contains(option, "u")
	s.readsScript = s.readsScript || isOn && strings.Contains(option, "c")
	return !takesOptionName(option) || len(names) > 0 && s.setNamedOption(names[0], isOn)
}

func (s *settings) setNamedOption(name string, isOn bool) bool {
	switch name {
	case "errexit":
		s.endsAtFailure = s.endsAtFailure || isOn
	case "nounset":
		s.endsAtUnset = s.endsAtUnset || isOn
	case "pipefail":
		s.pipesFail = s.pipesFail || isOn
		return s.knowsPipefail
	case "verbose", "xtrace":
	default:
		return false
	}
	return true
}

// mayReadUnset reports whether an expansion reads a variable that may not be set, at which the option nounset ends a script.
func mayReadUnset(p *syntax.ParamExp) bool {
	if p.Param == nil || slices.Contains([]string{"#", "$", "*", "-", "0", "?", "@"}, p.Param.Value) {
		return false
	}
	withDefault := []syntax.ParExpOperator{
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
	}
	return p.Exp == nil || !slices.Contains(withDefault, p.Exp.Op)
}
