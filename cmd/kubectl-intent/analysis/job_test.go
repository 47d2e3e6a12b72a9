package analysis

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// TestScript runs the scripts that containers become. A script ends with 0 where the container does, and else with 3.
func TestScript(t *testing.T) {
	env := func(pairs ...string) []argoEnv {
		var out []argoEnv
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, argoEnv{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	type want struct {
		code   int
		output string
	}
	cases := map[string]struct {
		reason        string
		command, args []string
		env           []argoEnv
		want          want
	}{
		"Passes": {reason: "A command that ends with 0 passes.", command: []string{"true"}},
		"Fails":  {reason: "A check fails with its command.", command: []string{"false"}, want: want{code: 3}},
		"ErrorExit": {
			reason:  "A script that ends at its first error does so in a check.",
			command: []string{"sh", "-c"}, args: []string{"set -e\nfalse\necho \"all is well\""}, want: want{code: 3},
		},
		"ErrorOption": {reason: "A script whose shell has the option fails, too.", command: []string{"/bin/sh", "-ec", "false; echo well"}, want: want{code: 3}},
		"PipeFails":   {reason: "A script keeps the result of its last command.", command: []string{"sh", "-c", "false; true"}},
		"ExitCode":    {reason: "Each code but 0 is a failure.", command: []string{"sh", "-c", "exit 7"}, want: want{code: 3}},
		"Arguments": {
			reason:  "A script gets its arguments, the first of which is its name.",
			command: []string{"sh", "-c", `echo "$0-$1"`}, args: []string{"name", "one two"}, want: want{output: "name-one two\n"},
		},
		"Keyword":    {reason: "A command that is a word of the shell is a program that no image has.", command: []string{"if"}, want: want{code: 3}},
		"Builtin":    {reason: "A command that only the shell has is such a program, too.", command: []string{"exit", "0"}, want: want{code: 3}},
		"Assignment": {reason: "A command with an equals sign sets no variable.", command: []string{"A=b"}, want: want{code: 3}},
		"Missing":    {reason: "A missing program fails.", command: []string{"/nothing/here"}, want: want{code: 3}},
		"Quotes": {
			reason:  "Quotes and line ends arrive as they are.",
			command: []string{"printf", "%s"}, args: []string{"it's \"so\"\n$HOME `id`"}, want: want{output: "it's \"so\"\n$HOME `id`"},
		},
		"Variable": {
			reason:  "The script gets the variables of the container.",
			command: []string{"sh", "-c", "echo $HOST"}, env: env("HOST", "shop's"), want: want{output: "shop's\n"},
		},
		"Reference": {
			reason:  "Kubernetes expands a reference to a variable in an argument, and a shell would run a command.",
			command: []string{"echo"}, args: []string{"http://$(HOST)/health"}, env: env("HOST", "shop"), want: want{output: "http://shop/health\n"},
		},
		"Chain": {
			reason:  "A value may refer to the variables before it.",
			command: []string{"echo", "$(URL)"}, env: env("HOST", "shop", "URL", "http://$(HOST)"), want: want{output: "http://shop\n"},
		},
		"Forward": {
			reason:  "A value cannot refer to a variable behind it.",
			command: []string{"echo", "$(URL)"}, env: env("URL", "http://$(HOST)", "HOST", "shop"), want: want{output: "http://$(HOST)\n"},
		},
		"Escaped": {
			reason:  "Two dollar signs stand for a single dollar sign, which refers to nothing.",
			command: []string{"echo", "$$(HOST)"}, env: env("HOST", "shop"), want: want{output: "$(HOST)\n"},
		},
		"Substitution": {
			reason:  "Parentheses around a command are left to the shell.",
			command: []string{"sh", "-c", "echo $(echo inner)"}, want: want{output: "inner\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newConverter(Options{})
			script := c.programOfContainer("p", argoContainer{Command: tc.command, Args: tc.args, Env: tc.env}, nil).composeScript()
			if len(c.problems) > 0 {
				t.Fatalf("\n%s\nprogramOf(...): %v", tc.reason, c.problems)
			}
			got := want{}
			output, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", script).Output()
			got.output = string(output)
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				got.code = exit.ExitCode()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\n%s: -want, +got:\n%s", tc.reason, script, diff)
			}
		})
	}
}

func TestProgramIsRefused(t *testing.T) {
	cases := map[string]struct {
		reason    string
		container argoContainer
		want      string
	}{
		"Service": {
			reason:    "A variable about a Service does not exist in the pod of a check.",
			container: argoContainer{Command: []string{"curl", "http://$(SHOP_SERVICE_HOST):$(SHOP_SERVICE_PORT_HTTP)"}},
			want:      "p.command[1]: $(SHOP_SERVICE_HOST) is the variable of a Service",
		},
		"ServiceLink": {
			reason:    "The older form of such a variable is refused, too.",
			container: argoContainer{Command: []string{"nc"}, Args: []string{"$(SHOP_PORT_80_TCP_ADDR)"}},
			want:      "p.args[0]: $(SHOP_PORT_80_TCP_ADDR) is the variable of a Service",
		},
		"ServiceEnv": {
			reason:    "A value may not refer to such a variable.",
			container: argoContainer{Command: []string{"true"}, Env: []argoEnv{{Name: "A", Value: "$(SHOP_PORT)"}}},
			want:      "p.env[0].value: $(SHOP_PORT) is the variable of a Service",
		},
		"Hyphen": {
			reason:    "A shell would take a command with a hyphen for an option.",
			container: argoContainer{Command: []string{"-x"}}, want: `p.command[0]: "-x" begins with a hyphen`,
		},
		"Name": {
			reason:    "A shell has no variable with a period.",
			container: argoContainer{Command: []string{"true"}, Env: []argoEnv{{Name: "a.b"}}},
			want:      `p.env[0].name: "a.b" cannot be the name of a variable`,
		},
		"Constant": {
			reason:    "A shell cannot set the variable with its user.",
			container: argoContainer{Command: []string{"true"}, Env: []argoEnv{{Name: "UID", Value: "5"}}},
			want:      `p.env[0].name: "UID" cannot be the name of a variable`,
		},
		"Clock": {
			reason:    "A shell may set the variable with its clock.",
			container: argoContainer{Command: []string{"true"}, Env: []argoEnv{{Name: "EPOCHSECONDS", Value: "5"}}},
			want:      `p.env[0].name: "EPOCHSECONDS" cannot be the name of a variable`,
		},
		"Changing": {
			reason:    "A shell gives its own value to the variable with its folder.",
			container: argoContainer{Command: []string{"true"}, Env: []argoEnv{{Name: "A", Value: "b"}, {Name: "PWD", Value: "/tmp"}}},
			want:      `p.env[1].name: "PWD" cannot be the name of a variable`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newConverter(Options{})
			c.programOfContainer("p", tc.container, nil)
			_, err := c.conversionResult()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nprogramOf(...): want %q, got:\n%v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestShellNote converts Jobs, whose images may have no shell.
func TestShellNote(t *testing.T) {
	cases := map[string]struct {
		reason, command string
		want            bool
	}{
		"Shell":     {reason: "An image whose command is a shell has one.", command: "[sh, -c, curl -sf http://shop]"},
		"ShellPath": {reason: "A shell may be named by its path.", command: "[/bin/bash, -c, curl -sf http://shop]"},
		"Program":   {reason: "An image with a program of its own may have no shell.", command: "[/usr/local/bin/smoke, --fast]", want: true},
		"Env":       {reason: "The program env says nothing about a shell.", command: "[env, A=b, smoke]", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := FromArgoRollouts([][]byte{[]byte(metric(jobOf(tc.command)))}, Options{})
			if err != nil {
				t.Fatalf("\n%s\nFromArgoRollouts(...): %v", tc.reason, err)
			}
			got := strings.Contains(strings.Join(c.Notes, "\n"), "containers[0].image: a check runs its script by /bin/sh")
			if got != tc.want {
				t.Errorf("\n%s\nFromArgoRollouts(...): want %v, notes %q", tc.reason, tc.want, c.Notes)
			}
		})
	}
}
