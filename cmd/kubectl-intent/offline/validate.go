// Package offline has the commands that need files only. They read a cluster where their flags ask for it.
package offline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/admission"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/application"
	"github.com/intentplane/intentplane/function/blueprint"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/offline"
)

// ourGroup ends the names of our API groups.
const ourGroup = "intentplane.dev"

// reasonUnreadable is the reason of unreadable files and objects.
const reasonUnreadable = "Unreadable"

// Validate looks for mistakes.
type Validate struct {
	manifest.CatalogFlags
	terminal.FormFlag

	Strict bool     `help:"Exit with 1 for warnings too."`
	Files  []string `arg:"" help:"Files with objects, directories of which all .yaml, .yml and .json files are read, those below them too, or - for the standard input. Objects of other kinds are passed over." predictor:"file"`
}

// A Finding is one mistake.
type Finding struct {
	// File, the number of the document in it (0 for the file as a whole), and the number of the line in the file.
	File     string `json:"file"`
	Document int    `json:"document"`
	Line     int    `json:"line"`

	// Object that the mistake is in.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	// Field is the path of the field, where it is known.
	Field string `json:"field,omitempty"`

	// Reason is the expected reason of the deployment's condition, or Unreadable for an unreadable file or object of the cluster.
	Reason string `json:"reason"`

	// Message describes the error.
	Message string `json:"message"`
}

// A ValidationReport is the result of a validation.
type ValidationReport struct {
	// Valid reports whether nothing was found.
	Valid bool `json:"valid"`

	// Checked is how many objects were looked at.
	Checked int `json:"checked"`

	// Findings in the order of files and documents.
	Findings []Finding `json:"findings"`

	// Warnings are probable mistakes, but no errors: in the order of files and documents.
	Warnings []Finding `json:"warnings,omitempty"`

	// Plans are the steps in which deployments with a canary go out, in the order of files and documents.
	Plans []PlanReport `json:"plans,omitempty"`

	// PassedOver are the kinds of objects that were not looked at, sorted.
	PassedOver []PassedOver `json:"passedOver,omitempty"`
}

// A validation goes through files.
type validation struct {
	report   ValidationReport
	server   *admission.Server
	catalog  *manifest.Catalog
	compile  bool
	renderer rendering.Renderer
	claims   claims

	// files that were looked at, in their order.
	files []string

	// rivals are the deployments of the files, in their order.
	rivals []rival
}

func (v *Validate) newValidation(in io.Reader) (*validation, error) {
	if v.IsIncomplete() {
		return nil, terminal.UsageError{Err: errors.New("--site and --blueprint are needed together, or --live")}
	}
	c, err := v.ReadCatalog(in)
	if err != nil {
		return nil, err
	}
	server, err := admission.New()
	return &validation{
		report: ValidationReport{Findings: []Finding{}}, server: server, catalog: c, compile: v.IsComplete(), renderer: rendering.NewRenderer(), claims: claims{},
	}, err
}

// Run prints a report. It returns an error when there are findings.
func (v *Validate) Run(s *terminal.Streams) error {
	w, err := v.newValidation(s.In)
	if err != nil {
		return err
	}
	for _, path := range v.Files {
		w.checkFileOrDirectory(s.In, path)
	}
	w.compareWithCluster(context.Background())
	w.report.Valid = len(w.report.Findings) == 0
	if err := v.PrintValue(s.Out, w.report, func(target io.Writer) error { return w.report.printTextReport(target, s.Colours) }); err != nil {
		return err
	}
	if !w.report.Valid || v.Strict && len(w.report.Warnings) > 0 {
		return terminal.VerdictError{}
	}
	return nil
}

// checkFileOrDirectory looks at a file, or at the manifests of a directory.
func (v *validation) checkFileOrDirectory(in io.Reader, path string) {
	files, err := manifest.FilesIn(path)
	if err != nil {
		v.addFinding(Finding{File: path, Line: 1, Reason: reasonUnreadable}, manifest.Document{}, err)
		return
	}
	if len(files) == 0 {
		v.addWarning(Finding{File: path, Line: 1, Reason: reasonEmpty, Message: "the directory has no file whose name ends in .yaml, .yml or .json"})
	}
	for _, name := range files {
		v.checkManifestFile(in, name)
	}
}

// checkManifestFile looks at all objects of a file. An unreadable object is a mistake as well, and hides no other.
func (v *validation) checkManifestFile(in io.Reader, name string) {
	v.files = append(v.files, name)
	documents, err := manifest.ReadFile(in, name)
	if err != nil {
		v.addFinding(Finding{File: name, Line: 1, Reason: reasonUnreadable}, manifest.Document{}, err)
		return
	}
	if !slices.ContainsFunc(documents, manifest.Document.HasContent) {
		v.addWarning(Finding{File: name, Line: 1, Reason: reasonEmpty, Message: "the file has no objects"})
	}
	for _, d := range documents {
		v.checkDocument(Finding{File: name, Document: d.Number, Reason: deploymentv1alpha1.ReasonInvalidSpec}, d)
	}
}

// checkDocument looks at one object: first as an API server would, then as the function would.
func (v *validation) checkDocument(finding Finding, d manifest.Document) {
	object, err := manifest.ParseObject(d.Text)
	if err != nil {
		line, message := d.LocateParserError(err)
		finding.Line = line
		v.addFinding(finding, d, errors.New(message))
		return
	}
	o := unstructured.Unstructured{Object: object}
	gvk := o.GroupVersionKind()
	finding.Kind, finding.Namespace, finding.Name = o.GetKind(), o.GetNamespace(), o.GetName()
	if !v.server.Knows(gvk) && !isOurGroup(gvk.Group) {
		v.countForeignObject(finding, d, o)
		return
	}
	v.report.Checked++
	v.warnOfIgnoredFields(finding, d, o)
	if !v.server.Knows(gvk) {
		v.reportUnknownKind(finding, d, gvk)
		return
	}
	problems := v.server.Check(context.Background(), object)
	for _, p := range problems {
		finding.Field = p.Field
		v.addFinding(finding, d, errors.New(p.String()))
	}
	check := v.checkForKind(gvk.GroupKind())
	if len(problems) > 0 || check == nil {
		return
	}
	finding.Field = ""
	check(finding, d)
}

// isOurGroup reports whether all kinds of a group are ours.
func isOurGroup(group string) bool {
	return group == ourGroup || strings.HasSuffix(group, "."+ourGroup)
}

// reportUnknownKind reports a kind, or a version of one, that our groups do not have.
func (v *validation) reportUnknownKind(finding Finding, d manifest.Document, gvk schema.GroupVersionKind) {
	finding.Field = "kind"
	err := errors.Errorf("kind: %s has no kind %q%s", gvk.GroupVersion(), gvk.Kind, v.suggestKind(gvk))
	if versions := v.server.Versions(gvk.GroupKind()); len(versions) > 0 {
		finding.Field = "apiVersion"
		err = errors.Errorf("apiVersion: %s of %s has no version %q, but %s", gvk.Kind, gvk.Group, gvk.Version, strings.Join(versions, ", "))
	}
	v.addFinding(finding, d, err)
}

// checkForKind returns the check of a kind's content, or none for kinds that need no more than their schema.
func (v *validation) checkForKind(gk schema.GroupKind) func(Finding, manifest.Document) {
	return map[string]func(Finding, manifest.Document){
		"IntentDeployment.claims.intentplane.dev": v.checkDeployment,
		"IntentDeployment.intentplane.dev":        v.checkDeployment,
		"Application.claims.intentplane.dev":      v.checkApplication,
		"Application.intentplane.dev":             v.checkApplication,
		"Bundle.claims.intentplane.dev":           v.checkBundle,
		"Bundle.intentplane.dev":                  v.checkBundle,
		"Blueprint.catalog.intentplane.dev":       v.checkBlueprint,
	}[gk.String()]
}

func (v *validation) checkDeployment(finding Finding, d manifest.Document) {
	c := &deploymentv1alpha1.IntentDeployment{}
	if err := manifest.DecodeStrictly(d.Text, c); err != nil {
		v.addFinding(finding, d, err)
		return
	}
	v.checkCompiled(finding, d, c)
}

// checkApplication looks at the deployment that an Application composes.
func (v *validation) checkApplication(finding Finding, d manifest.Document) {
	a := &applicationv1alpha1.Application{}
	if err := manifest.DecodeStrictly(d.Text, a); err != nil {
		v.addFinding(finding, d, err)
		return
	}
	c, err := application.Compile(a.GetNamespace(), a.GetName(), a.Spec)
	if err != nil {
		v.addFinding(finding, d, err)
		return
	}
	if note := application.NoteOn(a.Spec); note != "" {
		finding.Field = "spec.image"
		w := finding
		w.Reason, w.Message = reasonMovingTag, note
		v.addWarning(w)
		finding.Field = ""
	}
	v.checkCompiled(finding, d, c)
}

// checkCompiled checks a deployment and, where there is a catalog, its delivery.
func (v *validation) checkCompiled(finding Finding, d manifest.Document, c *deploymentv1alpha1.IntentDeployment) {
	err := v.judgeDeployment(finding, d, c)
	finding.Reason = reasonOfFinding(err)
	v.addFinding(finding, d, err)
}

// judgeDeployment returns the error of a deployment or, where there is a catalog, of its delivery.
func (v *validation) judgeDeployment(finding Finding, d manifest.Document, c *deploymentv1alpha1.IntentDeployment) error {
	if _, _, err := offline.ReadIntent(c.Spec); err != nil || !v.compile {
		return err
	}
	return v.checkDelivery(finding, d, c)
}

// reasonOfFinding returns the reason of an error about a deployment. Another error means an unreadable object.
func reasonOfFinding(err error) string { return cmp.Or(compile.ReasonOf(err), reasonUnreadable) }

// checkDelivery checks the delivery of a claim.
func (v *validation) checkDelivery(finding Finding, d manifest.Document, c *deploymentv1alpha1.IntentDeployment) error {
	v.catalog.SetNamespace(c)
	in, compiled, err := v.catalog.CompileDeployment(c)
	if err != nil {
		return err
	}
	places, err := v.renderer.RenderSites(v.catalog.HasConfigs(), in, compiled)
	if err != nil {
		return err
	}
	if err := v.addCanaryPlan(finding, in, compiled); err != nil {
		return err
	}
	r := rival{at: finding, d: d, name: c.GetNamespace() + "/" + c.GetName(), brought: objectsBroughtBy(places)}
	v.rivals = append(v.rivals, r)
	return v.claims.recordObjects(r.name, r.brought)
}

func (v *validation) checkBlueprint(finding Finding, d manifest.Document) {
	b := &catalogv1alpha1.Blueprint{}
	err := manifest.DecodeStrictly(d.Text, b)
	if err == nil {
		err = blueprint.Check(b)
	}
	if err != nil || len(b.Spec.Examples) == 0 {
		v.addFinding(finding, d, err)
		v.warnOfInstructions(finding, d, b)
		return
	}
	results, err := blueprint.Test(context.Background(), b, v.renderer.Builder)
	v.addFinding(finding, d, err)
	for _, r := range results {
		if r.Err == nil {
			r.Err = rendering.CheckRules(b, r.Files)
		}
		finding.Field, finding.Reason = r.Name, deploymentv1alpha1.ReasonRenderFailed
		v.addFinding(finding, d, r.Err)
	}
}

// addFinding adds a finding for an error. Nil is none.
func (v *validation) addFinding(finding Finding, d manifest.Document, err error) {
	if err != nil {
		v.report.Findings = append(v.report.Findings, completeFinding(finding, d, err))
	}
}

// completeFinding adds the message, and the field and the line where they are not known yet.
func completeFinding(finding Finding, d manifest.Document, err error) Finding {
	finding.Field = cmp.Or(finding.Field, fieldOfMessage(err.Error()))
	finding.Line = cmp.Or(finding.Line, d.LineOfField(finding.Field))
	finding.Message = err.Error()
	return finding
}

// fieldIn is how messages begin that name a field.
var fieldIn = regexp.MustCompile(`^(?:spec|metadata)[A-Za-z0-9_.\[\]]*`)

func fieldOfMessage(message string) string {
	return strings.TrimSuffix(fieldIn.FindString(message), ".")
}

// printTextReport prints a line for each finding and each warning, which editors and CI know how to read, and a summary of the checked objects.
func (r ValidationReport) printTextReport(w io.Writer, colours terminal.Palette) error {
	for _, f := range r.Findings {
		if err := f.printTextLine(w, colours.Paint(f.Reason, color.FgRed)); err != nil {
			return err
		}
	}
	for _, f := range r.Warnings {
		if err := f.printTextLine(w, colours.Paint("warning: "+f.Reason, color.FgYellow)); err != nil {
			return err
		}
	}
	for _, p := range r.Plans {
		if err := p.printTextLines(w); err != nil {
			return err
		}
	}
	colour := color.FgGreen
	if !r.Valid {
		colour = color.FgRed
	}
	_, err := fmt.Fprintf(w, "%s%s\n", colours.Paint(r.summarizeReport(), colour), r.skippedSummary())
	return errors.Wrap(err, "cannot print")
}

func (r ValidationReport) summarizeReport() string {
	out := countThings(r.Checked, "object") + ", " + countThings(len(r.Findings), "mistake")
	if len(r.Warnings) > 0 {
		out += ", " + countThings(len(r.Warnings), "warning")
	}
	return out
}

// countThings returns a number with the word for the counted things.
func countThings(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// printTextLine prints a finding behind a reason, which may be painted.
func (f Finding) printTextLine(w io.Writer, reason string) error {
	subject := terminal.QuoteInvisible(strings.TrimSpace(f.Kind + " " + strings.TrimPrefix(f.Namespace+"/"+f.Name, "/")))
	if subject != "" {
		subject += ": "
	}
	_, err := fmt.Fprintf(w, "%s:%d: %s%s: %s\n", terminal.QuoteLine(f.File), f.Line, subject, reason, terminal.PlainMessage(f.Message))
	return errors.Wrap(err, "cannot print")
}
