package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/terminal"
)

// isProgram is set where the test binary stands for the program.
const isProgram = "KUBECTL_INTENT_TEST_IS_PROGRAM"

// shellPatience is how long a shell may take to complete a line.
const shellPatience = 2 * time.Minute

// TestMain lets shells run this binary as the program.
func TestMain(m *testing.M) {
	if os.Getenv(isProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestShellsComplete types into real shells, on a terminal, after they evaluated the output of "completion".
func TestShellsComplete(t *testing.T) {
	cases := map[string]struct {
		reason string
		// start of the shell without the user's own settings, and lines that set it up.
		start []string
		setup string
		typed string
		want  string
	}{
		"BashCommand": {
			reason: "Bash completes a command.",
			start:  []string{"bash", "--norc", "--noprofile", "-i"}, typed: "kubectl-intent bluep\t", want: "kubectl-intent blueprint",
		},
		"BashValue": {
			reason: "Bash completes a command below another command.",
			start:  []string{"bash", "--norc", "--noprofile", "-i"}, typed: "kubectl-intent completion fi\t", want: "kubectl-intent completion fish",
		},
		"ZshCommand": {
			reason: "Zsh completes a command.",
			start:  []string{"zsh", "-f", "-i"}, setup: "autoload -U compinit && compinit -u -D", typed: "kubectl-intent bluep\t",
			want: "kubectl-intent blueprint",
		},
		"ZshValue": {
			reason: "Zsh completes a command below another command.",
			start:  []string{"zsh", "-f", "-i"}, setup: "autoload -U compinit && compinit -u -D", typed: "kubectl-intent completion fi\t",
			want: "kubectl-intent completion fish",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := startShell(t, tc.start...)
			s.run(tc.setup)
			// The script is evaluated as a file: a terminal echoes typed text.
			s.run(". " + completionScript(t, tc.start[0]))
			s.write(tc.typed)
			if !s.awaitText(tc.want) {
				t.Errorf("\n%s\nwant %q after %q, got:\n%s", tc.reason, tc.want, tc.typed, s.seen)
			}
		})
	}
}

// TestFishCompletes asks a real fish for its completions, which it prints without a terminal.
func TestFishCompletes(t *testing.T) {
	cases := map[string]struct {
		reason string
		line   string
		want   string
	}{
		"Command": {reason: "Fish offers commands.", line: "kubectl-intent bluep", want: "blueprint\nblueprints\n"},
		"Below":   {reason: "Fish offers the commands below a command.", line: "kubectl-intent import ", want: "analysis\nmetrictemplate\n"},
		"Values":  {reason: "Fish offers the closed values of an argument.", line: "kubectl-intent completion ", want: "bash\nfish\nzsh\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fish := exec.CommandContext(t.Context(), "fish", "--no-config", "-c", fmt.Sprintf("source %s; complete -C %q", completionScript(t, "fish"), tc.line))
			fish.Env = shellEnvironment(t)
			out, err := fish.CombinedOutput()
			if err != nil || string(out) != tc.want {
				t.Errorf("\n%s\nfish: %v: want %q, got %q", tc.reason, err, tc.want, out)
			}
		})
	}
}

// completionScript returns a file with the program's script for a shell.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	script, problems, code := runIntent("", "completion", shell)
	if code != 0 {
		t.Fatalf("completion %s: exit code %d: %s", shell, code, problems)
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// shellEnvironment has the program on the PATH, and no settings of a user.
func shellEnvironment(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Symlink(self, filepath.Join(home, "kubectl-intent")); err != nil {
		t.Fatal(err)
	}
	return []string{isProgram + "=1", "PATH=" + home + ":" + os.Getenv("PATH"), "HOME=" + home, "TERM=vt100", "LC_ALL=C.UTF-8", "KUBECONFIG=" + filepath.Join(home, "none")}
}

// A shell runs on a terminal.
type shell struct {
	*testing.T

	terminal *os.File
	seen     string
	lines    int
}

func startShell(t *testing.T, args ...string) *shell {
	t.Helper()
	reader, program, err := terminal.Open(120, 40)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), args[0], args[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = shellEnvironment(t), program, program, program
	// An interactive shell wants the terminal for itself.
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatalf("cannot start %s: install it: %v", args[0], err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = reader.Close()
	})
	_ = program.Close()
	if err := reader.SetReadDeadline(time.Now().Add(shellPatience)); err != nil {
		t.Fatal(err)
	}
	return &shell{T: t, terminal: reader}
}

func (s *shell) write(text string) {
	s.Helper()
	if _, err := s.terminal.WriteString(text); err != nil {
		s.Fatal(err)
	}
}

// run runs a line, and waits until that has ended. The echo of the line does not have the awaited text.
func (s *shell) run(line string) {
	s.Helper()
	if line == "" {
		return
	}
	s.lines++
	s.write(fmt.Sprintf("%s; echo end''ed-%d\n", line, s.lines))
	if !s.awaitText(fmt.Sprintf("ended-%d", s.lines)) {
		s.Fatalf("%q does not end:\n%s", line, s.seen)
	}
	s.seen = ""
}

// awaitText reads the output of the shell until it has a text, or until nothing follows in time.
func (s *shell) awaitText(text string) bool {
	b := make([]byte, 4096)
	for !strings.Contains(s.seen, text) {
		n, err := s.terminal.Read(b)
		s.show(string(b[:n]))
		if err != nil {
			return strings.Contains(s.seen, text)
		}
	}
	return true
}

// show adds the visible text of a terminal: a bell shows nothing, and the character after a backspace replaces a character.
func (s *shell) show(text string) {
	for _, r := range text {
		switch r {
		case '\a':
		case '\b':
			s.seen = s.seen[:max(0, len(s.seen)-1)]
		default:
			s.seen += string(r)
		}
	}
}
