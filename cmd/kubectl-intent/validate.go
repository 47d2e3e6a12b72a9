package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/blueprint"
	"github.com/intentplane/intentplane/function/render"
)

// A validateCommand looks for mistakes.
type validateCommand struct {
	catalogFlags

	Files  []string `arg:""         help:"Files with objects, or - for the standard input. Kinds that are not ours are passed over."`
	Output string   `default:"text" enum:"text,json,yaml" help:"Form of the output: text, json or yaml." short:"o"`
}

// A Finding is one mistake.
type Finding struct {
	// File, and the number of the document in it.
	File     string `json:"file"`
	Document int    `json:"document"`

	// Object that the mistake is in.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	// Field is the path of the field, where it is known.
	Field string `json:"field,omitempty"`

	// Reason is what a condition of the deployment would have as its reason.
	Reason string `json:"reason"`

	// Message says what is wrong.
	Message string `json:"message"`
}

// A Report is what was found.
type Report struct {
	// Valid says that there are no findings.
	Valid bool `json:"valid"`

	// Checked is how many objects were looked at.
	Checked int `json:"checked"`

	// Findings in the order of files and documents.
	Findings []Finding `json:"findings"`
}

// A validation goes through files.
type validation struct {
	report   Report
	catalog  *files
	compile  bool
	renderer *render.Renderer
	core     *function.Core
}

// Run prints a report. It returns an error when there are findings, or when a file cannot be read.
func (v *validateCommand) Run(s *streams) error {
	if len(v.Site) > 0 != (len(v.Blueprint) > 0) {
		return usageError{errors.New("--site and --blueprint are needed together")}
	}
	c, err := v.read(s.in)
	if err != nil {
		return err
	}
	r := render.NewRenderer()
	w := &validation{report: Report{Findings: []Finding{}}, catalog: c, compile: v.given(), renderer: r, core: function.New(r)}
	for _, name := range v.Files {
		if err := w.file(s.in, name); err != nil {
			return err
		}
	}
	w.report.Valid = len(w.report.Findings) == 0
	if err := printAs(s.out, v.Output, w.report, w.report.text); err != nil {
		return err
	}
	if !w.report.Valid {
		return verdictError{}
	}
	return nil
}

func (v *validation) file(in io.Reader, name string) error {
	documents, err := readDocuments(in, name)
	if err != nil {
		return err
	}
	for i, d := range documents {
		o := metav1.PartialObjectMetadata{}
		at := Finding{File: name, Document: i + 1, Reason: deploymentv1alpha1.ReasonInvalidSpec}
		if err := yaml.Unmarshal(d, &o); err != nil {
			v.found(at, err)
			continue
		}
		at.Kind, at.Namespace, at.Name = o.Kind, o.GetNamespace(), o.GetName()
		if check := v.checkOf(o.TypeMeta); check != nil {
			v.report.Checked++
			check(at, d)
		}
	}
	return nil
}

// checkOf returns what looks at objects of a kind, or none for kinds that are not ours.
func (v *validation) checkOf(t metav1.TypeMeta) func(Finding, []byte) {
	return map[string]func(Finding, []byte){
		claimVersions()[0] + " IntentDeployment": v.claim,
		claimVersions()[1] + " IntentDeployment": v.claim,
		catalogVersion + " Blueprint":            v.blueprint,
		catalogVersion + " Site":                 decodes[catalogv1alpha1.Site](v),
		configVersion + " ProviderConfig":        decodes[configv1alpha1.ProviderConfig](v),
		configVersion + " ClusterProviderConfig": decodes[configv1alpha1.ClusterProviderConfig](v),
	}[t.APIVersion+" "+t.Kind]
}

func decodes[T any](v *validation) func(Finding, []byte) {
	return func(at Finding, document []byte) {
		var o T
		v.found(at, decodeStrictly(document, &o))
	}
}

func (v *validation) claim(at Finding, document []byte) {
	c := &deploymentv1alpha1.IntentDeployment{}
	if err := decodeStrictly(document, c); err != nil {
		v.found(at, err)
		return
	}
	if _, field, err := function.Understand(c.Spec); err != nil || !v.compile {
		at.Field, at.Reason = field, deploymentv1alpha1.ReasonInvalidIntent
		v.found(at, err)
		return
	}
	in, compiled, err := v.catalog.compile(c)
	if err == nil {
		err = v.render(in, compiled)
	}
	at.Reason = function.ReasonOf(err)
	v.found(at, err)
}

// render looks at what a claim renders to. Without configurations there are no limits to look at.
func (v *validation) render(in function.Input, c *function.Compiled) error {
	if v.catalog.configs {
		_, err := v.core.Render(context.Background(), in, c)
		return err
	}
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return function.Failed(deploymentv1alpha1.ReasonInvalidSpec, errors.Wrap(err, "spec.compileConfig.renderTimeout"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	definitions, err := render.Definitions(&c.Selection.Blueprint)
	if err != nil {
		return function.Failed(deploymentv1alpha1.ReasonRenderFailed, err)
	}
	for _, one := range c.Inputs {
		files, err := v.renderer.Build(ctx, one)
		if err == nil {
			err = policy.CheckObjects(files, definitions)
		}
		if err != nil {
			return function.Failed(deploymentv1alpha1.ReasonRenderFailed, errors.Wrapf(err, "Site %q", one.Site.Name))
		}
	}
	return nil
}

func (v *validation) blueprint(at Finding, document []byte) {
	b := &catalogv1alpha1.Blueprint{}
	err := decodeStrictly(document, b)
	if err == nil {
		err = blueprint.Check(b)
	}
	if err != nil || len(b.Spec.Examples) == 0 {
		v.found(at, err)
		return
	}
	results, err := blueprint.Test(context.Background(), b, v.renderer)
	v.found(at, err)
	for _, r := range results {
		at.Field, at.Reason = r.Name, deploymentv1alpha1.ReasonRenderFailed
		v.found(at, r.Err)
	}
}

// found adds a finding for an error. Nil is none.
func (v *validation) found(at Finding, err error) {
	if err == nil {
		return
	}
	if at.Field == "" {
		at.Field = fieldOf(err.Error())
	}
	at.Message = err.Error()
	v.report.Findings = append(v.report.Findings, at)
}

// fieldIn are the ways in which messages name a field.
var fieldIn = regexp.MustCompile(`(?:unknown field "|Go struct field [A-Za-z0-9]+\.|^)((?:spec|metadata)[A-Za-z0-9_.\[\]]*)`)

func fieldOf(message string) string {
	found := fieldIn.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	return strings.TrimSuffix(found[1], ".")
}

func (r Report) text(w io.Writer) error {
	for _, f := range r.Findings {
		where := strings.TrimPrefix(f.Namespace+"/"+f.Name, "/")
		if _, err := fmt.Fprintf(w, "%s: document %d: %s %s: %s: %s\n", f.File, f.Document, f.Kind, where, f.Reason, f.Message); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	_, err := fmt.Fprintf(w, "%d objects, %d mistakes\n", r.Checked, len(r.Findings))
	return errors.Wrap(err, "cannot print")
}
