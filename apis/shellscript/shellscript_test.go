package shellscript

import (
	"os/exec"
	"testing"
)

// TestCanFail judges scripts. A script that cannot fail ends with 0 in the shell of this machine too.
func TestCanFail(t *testing.T) {
	cases := map[string]struct {
		reason, script string
		want           bool
	}{
		"True":         {reason: "A script of the command true always passes.", script: "true"},
		"Colon":        {reason: "A colon is the same command.", script: ":"},
		"Comment":      {reason: "A script without commands passes.", script: "# smoke\n\n"},
		"Exit":         {reason: "A script that ends with exit 0 ignores its commands.", script: "no-such-program\nexit 0\nfalse"},
		"Echo":         {reason: "The last command decides, and echo passes.", script: "no-such-program http://shop\necho done"},
		"EchoOutput":   {reason: "A command within the words of echo does not decide.", script: `echo "answer: $(false)"`},
		"Alternative":  {reason: "An alternative that passes decides.", script: "false || true"},
		"ErrorIgnored": {reason: "With set -e, an alternative that passes still decides.", script: "set -e\nfalse || echo no"},
		"Choice":       {reason: "Each branch may print a text, and no branch fails.", script: "if false; then echo yes; elif false; then :; else echo no; fi"},
		"NoBranch":     {reason: "A choice without a branch that is taken passes.", script: "if false; then echo yes; fi"},
		"Case":         {reason: "A case without a failing branch passes.", script: "case $1 in a) echo a;; *) ;; esac"},
		"Pipe":         {reason: "The last command of a pipe decides.", script: "false | echo done"},
		"Loop":         {reason: "A loop has the result of its last command.", script: "for i in 1 2; do false; echo $i; done"},
		"Background":   {reason: "A command in the background passes.", script: "false &"},
		"Subshell":     {reason: "The last command of a subshell decides.", script: "(false; true)"},
		"Block":        {reason: "The last command of a block decides.", script: "{ false; printf 'done\\n'; } >/dev/null 2>&1"},
		"Variable":     {reason: "An assignment of a text passes.", script: "false; A=b"},
		"Export":       {reason: "An export hides the result of a command.", script: "export A=$(false)"},
		"Document":     {reason: "A here-document opens no file.", script: "echo <<E\n$(false)\nE"},
		"InnerShell":   {reason: "A shell within the script has the result of its own script.", script: "sh -c 'false; true'"},
		"Quoted":       {reason: "A quoted name is the same command.", script: `"ec"'ho' x`},
		"UnsetOption":  {reason: "With set -eu, an alternative that passes still decides.", script: "set -eu\nfalse || true"},
		"UnsetDefault": {reason: "A variable with a default needs no value.", script: "set -u; echo ${A:-b} $# $?"},
		"LongOptions":  {reason: "Options may have long names.", script: "set -o errexit -o nounset; false || :"},
		"Arguments":    {reason: "Words behind the options of set are arguments.", script: "set -e -- a b; false || true"},

		"Command":      {reason: "A program may fail.", script: "curl -sf http://shop", want: true},
		"Last":         {reason: "The last command may fail.", script: "echo begin\nfalse", want: true},
		"ErrorExit":    {reason: "With set -e, each command may end the script.", script: "set -e\nfalse\necho done", want: true},
		"ErrorOption":  {reason: "The option has a long name.", script: "set -o errexit\nfalse\necho done", want: true},
		"ErrorThenEnd": {reason: "With set -e, a command before exit 0 may end the script.", script: "set -ex; false; exit 0", want: true},
		"OtherOption":  {reason: "Another option may end the script.", script: "set -u; echo $A", want: true},
		"UnsetValue":   {reason: "A variable may not be set.", script: "set -eu; echo $A; false || true", want: true},
		"UnsetLength":  {reason: "The length of a variable needs its value.", script: "set -u; echo ${#A}", want: true},
		"PipeOption":   {reason: "A shell without the option pipefail ends at it.", script: "set -euo pipefail; false || true", want: true},
		"NoName":       {reason: "An option needs its name.", script: "set -o; false || true", want: true},
		"OtherName":    {reason: "An option of another name may end the script.", script: "set -o noexec; echo done", want: true},
		"ExitCode":     {reason: "A script may exit with a code of its own.", script: "false || exit 3; exit 0", want: true},
		"ExitStatus":   {reason: "Without a code, exit has the result of the command before it.", script: "false; exit", want: true},
		"ExitVariable": {reason: "The code may be computed.", script: "exit $CODE", want: true},
		"Test":         {reason: "A test may fail.", script: `[ "$A" = b ]`, want: true},
		"Both":         {reason: "Two commands pass together.", script: "true && false", want: true},
		"Either":       {reason: "Two alternatives may both fail.", script: "false || false", want: true},
		"Not":          {reason: "A negation of true fails.", script: "! true", want: true},
		"Branch":       {reason: "A branch may fail.", script: "if true; then false; else echo no; fi", want: true},
		"CaseBranch":   {reason: "A branch of a case may fail.", script: "case a in a) false;; esac", want: true},
		"Output":       {reason: "An assignment has the result of its command.", script: "A=$(false)", want: true},
		"File":         {reason: "A file may not be writable.", script: "echo x > /no/such/file", want: true},
		"SpecialFile":  {reason: "A file that cannot be opened ends the shell at some commands.", script: ": > /no/such/file; echo done", want: true},
		"Required":     {reason: "A variable may be required.", script: ": ${NOT_SET:?is missing}; echo done", want: true},
		"Division":     {reason: "A computation may fail.", script: "echo $((1 / 0)); echo done", want: true},
		"Format":       {reason: "A format may not fit its arguments.", script: "printf %d x", want: true},
		"Wait":         {reason: "A loop may wait until the check times out.", script: "until curl -sf http://shop; do sleep 1; done; echo up", want: true},
		"Computed":     {reason: "A command that is computed may be any command.", script: "$RUN; echo done", want: true},
		"Evaluated":    {reason: "A text that is evaluated may end the shell.", script: "eval 'exit 3'; echo done", want: true},
		"Replaced":     {reason: "A program that replaces the shell has the result.", script: "exec false; echo done", want: true},
		"Killed":       {reason: "A script may end itself.", script: "kill $$; echo done", want: true},
		"Trap":         {reason: "A trap may change the result.", script: "trap 'exit 3' EXIT; echo done", want: true},
		"Function":     {reason: "A function may have the name of a command.", script: "echo() { return 3; }\necho done", want: true},
		"Constant":     {reason: "A constant cannot be set again.", script: "readonly A=b; A=c; echo done", want: true},
		"InnerError":   {reason: "The option of a shell within the script counts.", script: "sh -ec 'false; true'", want: true},
		"InnerOther":   {reason: "A shell with other options may fail.", script: "sh -n no-such-file", want: true},
		"Late":         {reason: "An unclear command counts beside an end.", script: "kill $$\nexit 0", want: true},
		"NoScript":     {reason: "A text that no shell can parse fails.", script: "if true; then", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if CanFail(tc.script) != tc.want {
				t.Errorf("\n%s\nCanFail(%q): want %v", tc.reason, tc.script, tc.want)
			}
			if tc.want {
				return
			}
			if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", tc.script).CombinedOutput(); err != nil {
				t.Errorf("\n%s\n%q fails: %v\n%s", tc.reason, tc.script, err, out)
			}
		})
	}
}

func TestCommandCanFail(t *testing.T) {
	cases := map[string]struct {
		reason  string
		command []string
		want    bool
	}{
		"True":    {reason: "The program true always passes.", command: []string{"/bin/true"}},
		"Echo":    {reason: "The program echo always passes.", command: []string{"echo", "done"}},
		"Shell":   {reason: "A shell has the result of its script.", command: []string{"/bin/sh", "-c", "curl -sf http://shop; echo done"}},
		"Options": {reason: "Options that print commands change nothing.", command: []string{"bash", "-x", "-c", "curl -sf http://shop || true"}},
		"Env":     {reason: "The program env runs a command with further variables.", command: []string{"/usr/bin/env", "A=b", "sh", "-c", "test $A = c; true"}},
		"BusyBox": {reason: "BusyBox has a shell by its name.", command: []string{"busybox", "sh", "-c", "wget -q http://shop || exit 0"}},
		"Strict": {
			reason:  "Options that end a script early may end it nowhere.",
			command: []string{"bash", "-euo", "pipefail", "-c", "curl -sf http://shop || true"},
		},
		"StrictSet": {
			reason:  "The script may set the options.",
			command: []string{"/bin/bash", "-c", "set -euo pipefail\ncurl -sf http://shop || true"},
		},
		"Login":    {reason: "A login changes nothing.", command: []string{"bash", "-lc", "curl -sf http://shop; echo done"}},
		"LongName": {reason: "The name of an option may stand apart.", command: []string{"sh", "-o", "errexit", "-c", "curl -sf http://shop || :"}},
		"Behind":   {reason: "An option may stand behind -c.", command: []string{"bash", "-c", "-x", "--", "curl -sf http://shop; true"}},
		"Init":     {reason: "An init process runs the command behind it.", command: []string{"/sbin/tini", "--", "sh", "-c", "curl -sf http://shop || true"}},
		"DumbInit": {reason: "An init process needs no mark.", command: []string{"dumb-init", "true"}},
		"StrictFail": {
			reason:  "The option pipefail counts each command of a pipe.",
			command: []string{"bash", "-o", "pipefail", "-c", "curl -sf http://shop | echo done"}, want: true,
		},
		"StrictUnset": {
			reason:  "The option nounset ends a script at a variable that is not set.",
			command: []string{"bash", "-uc", "echo $HOST"}, want: true,
		},
		"OtherShell": {reason: "A shell without pipefail ends at it.", command: []string{"dash", "-o", "pipefail", "-c", "true"}, want: true},
		"InitOption": {reason: "An option of an init process is not known.", command: []string{"tini", "-g", "true"}, want: true},
		"EnvAlone":   {reason: "Variables alone run no command that passes.", command: []string{"env", "A=b"}, want: true},
		"EnvOption":  {reason: "An option of env is not known.", command: []string{"env", "-i", "true"}, want: true},
		"EnvProgram": {reason: "A program that env runs may fail.", command: []string{"env", "A=b", "curl", "-sf", "http://shop"}, want: true},
		"None":       {reason: "No command is not a command that passes.", want: true},
		"Program":    {reason: "Another program may fail.", command: []string{"curl", "-sf", "http://shop"}, want: true},
		"Script":     {reason: "The script of a shell may fail.", command: []string{"sh", "-c", "curl -sf http://shop"}, want: true},
		"ErrorExit":  {reason: "The option -e counts.", command: []string{"sh", "-ec", "curl -sf http://shop; echo done"}, want: true},
		"ErrorApart": {reason: "The option may stand apart.", command: []string{"sh", "-e", "-c", "curl -sf http://shop; echo done"}, want: true},
		"File":       {reason: "A file is not known.", command: []string{"sh", "smoke.sh"}, want: true},
		"NoScript":   {reason: "A shell without its script fails.", command: []string{"sh", "-c"}, want: true},
		"Builtin":    {reason: "A word that only a shell has is not a program.", command: []string{"exit", "0"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if CommandCanFail(tc.command) != tc.want {
				t.Errorf("\n%s\nCommandCanFail(%q): want %v", tc.reason, tc.command, tc.want)
			}
		})
	}
}

func TestIsShell(t *testing.T) {
	cases := map[string]struct {
		reason, program string
		want            bool
	}{
		"Name":    {reason: "A shell has a name.", program: "ash", want: true},
		"Path":    {reason: "A shell may have a path.", program: "/usr/bin/bash", want: true},
		"Program": {reason: "Another program is not a shell.", program: "/bin/curl"},
		"Ending":  {reason: "A script is not a shell, although its name ends as one.", program: "smoke.sh"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if IsShell(tc.program) != tc.want {
				t.Errorf("\n%s\nIsShell(%q): want %v", tc.reason, tc.program, tc.want)
			}
		})
	}
}
