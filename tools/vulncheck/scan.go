package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// protocol is the version of govulncheck's output that parseResult reads.
const protocol = "v1.0.0"

// A finding is a vulnerability in a dependency of a module.
type finding struct {
	id, summary string
	// dependency is the affected module with its version.
	dependency string
	// fixed is the version with the fix. It is empty if no version has the fix.
	fixed string
	// trace has the vulnerable function, and its callers up to a function of the scanned module. It is empty if code of the module does not reach it.
	trace []string
}

// String returns one line about a finding, without its trace.
func (f finding) String() string {
	fix := "without a fix"
	if f.fixed != "" {
		fix = "fixed in " + f.fixed
	}
	return fmt.Sprintf("%s in %s, %s: %s", f.id, f.dependency, fix, f.summary)
}

// compareFindings orders findings of one vulnerability by the length of their traces. Findings without a trace are last.
func compareFindings(a, b finding) int {
	return cmp.Or(cmp.Compare(a.distance(), b.distance()), slices.Compare(a.trace, b.trace), strings.Compare(a.dependency, b.dependency))
}

func (f finding) distance() int {
	if len(f.trace) == 0 {
		return math.MaxInt
	}
	return len(f.trace)
}

// A result is the outcome of a scan, in the order of identifiers.
type result struct {
	// reached are the vulnerabilities that code of the module reaches.
	reached []finding
	// unreached are the identifiers of other vulnerabilities in packages that the module imports, or in modules that it requires.
	unreached []string
}

// A message is one JSON object of govulncheck's output.
type message struct {
	Config *struct {
		ProtocolVersion string `json:"protocol_version"`
	} `json:"config"`
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *foundVulnerability `json:"finding"`
}

// A foundVulnerability is a vulnerable function, package or module. A finding of a package or a module has one frame, without a function.
type foundVulnerability struct {
	OSV          string  `json:"osv"`
	FixedVersion string  `json:"fixed_version"`
	Trace        []frame `json:"trace"`
}

// A frame is one function of a trace. Its position is in a file of its module, and has line 0 if it is unknown.
type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Function string `json:"function"`
	Receiver string `json:"receiver"`
	Position struct {
		Filename string `json:"filename"`
		Line     int    `json:"line"`
	} `json:"position"`
}

// String returns the function and its position, as in net/http.Server.Serve (src/net/http/server.go:3300).
func (f frame) String() string {
	name := f.Package + "."
	if f.Receiver != "" {
		name += strings.TrimPrefix(f.Receiver, "*") + "."
	}
	name += f.Function
	if f.Position.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s (%s:%d)", name, f.Position.Filename, f.Position.Line)
}

// convert returns the finding of a message.
func (v foundVulnerability) convert() (finding, error) {
	if v.OSV == "" || len(v.Trace) == 0 {
		return finding{}, fmt.Errorf("a finding of %q has no identifier, or no trace", v.OSV)
	}
	out := finding{id: v.OSV, fixed: v.FixedVersion, dependency: strings.TrimSpace(v.Trace[0].Module + " " + v.Trace[0].Version)}
	if v.Trace[0].Function == "" {
		return out, nil
	}
	for _, f := range v.Trace {
		out.trace = append(out.trace, f.String())
	}
	return out, nil
}

// A collector has the messages of one scan, which come in any order.
type collector struct {
	protocol  string
	summaries map[string]string
	findings  map[string]finding
}

// add takes a message. Of the findings of a vulnerability it retains the first in the order of compareFindings.
func (c *collector) add(m message) error {
	switch {
	case m.Config != nil:
		c.protocol = m.Config.ProtocolVersion
	case m.OSV != nil:
		c.summaries[m.OSV.ID] = m.OSV.Summary
	case m.Finding != nil:
		f, err := m.Finding.convert()
		if err != nil {
			return err
		}
		if previous, ok := c.findings[f.id]; !ok || compareFindings(f, previous) < 0 {
			c.findings[f.id] = f
		}
	}
	return nil
}

// result returns the findings of all messages. Output of another protocol is an error, and so is an empty one.
func (c *collector) result() (result, error) {
	if c.protocol != protocol {
		return result{}, fmt.Errorf("the protocol is %q, want %q", c.protocol, protocol)
	}
	out := result{}
	for _, id := range slices.Sorted(maps.Keys(c.findings)) {
		f := c.findings[id]
		if len(f.trace) == 0 {
			out.unreached = append(out.unreached, id)
			continue
		}
		f.summary = c.summaries[id]
		out.reached = append(out.reached, f)
	}
	return out, nil
}

// parseResult reads the output of govulncheck.
func parseResult(output io.Reader) (result, error) {
	c := &collector{summaries: map[string]string{}, findings: map[string]finding{}}
	for decoder := json.NewDecoder(output); ; {
		m := message{}
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			return c.result()
		}
		if err != nil {
			return result{}, err
		}
		if err := c.add(m); err != nil {
			return result{}, err
		}
	}
}

// A scanner runs govulncheck with a database. Both paths are absolute.
type scanner struct {
	program  string
	database string
}

// scan runs govulncheck on the packages of a module. With JSON as its format, govulncheck fails if it cannot scan, and not because of findings.
func (s scanner) scan(ctx context.Context, module string) (result, error) {
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(s.database)}
	stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
	cmd := exec.CommandContext(ctx, s.program, "-format", "json", "-db", address.String(), "./...")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = module, append(os.Environ(), "GOWORK=off"), stdout, stderr
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("cannot scan %s: %w\n%s", module, err, stderr)
	}
	out, err := parseResult(stdout)
	if err != nil {
		return result{}, fmt.Errorf("cannot read the output of govulncheck about %s: %w", module, err)
	}
	return out, nil
}
