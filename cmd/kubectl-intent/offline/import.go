package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/admission"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/analysis"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/gates"
)

// Import holds the conversions.
type Import struct {
	Analysis       ImportAnalysis       `cmd:"" help:"Convert AnalysisTemplates and ClusterAnalysisTemplates of Argo Rollouts into checks."`
	Metrictemplate ImportMetricTemplate `cmd:"" help:"Convert MetricTemplates of Flagger into checks, by the Canaries that refer to them."`
}

// importFlags are the flags of both conversions.
type importFlags struct {
	Arg        map[string]string `help:"Value of an argument or of a variable, which takes the place of that of the file. {{service}}, {{namespace}} and {{site}} may be a part of it." mapsep:"none" placeholder:"NAME=VALUE"`
	Count      int32             `help:"Count of measurements, from 1 to 100, where the file has none." placeholder:"N"`
	SiteServer bool              `help:"Ask the Prometheus server of the Site, and drop the addresses and credentials of the file."`
	Into       string            `default:"checks" enum:"checks,metrics" help:"What to write: checks, as a patch of an IntentDeployment, or metrics, as a part of the blueprint.yaml of a Blueprint, with a patch that sets their thresholds."`
	Output     string            `default:"yaml" enum:"yaml,json" help:"Form of the output: yaml or json." short:"o"`
}

func (f importFlags) analysisOptions() (analysis.Options, error) {
	if f.Count < 0 || f.Count > 100 {
		return analysis.Options{}, terminal.UsageError{Err: errors.Errorf("--count: %d is not from 1 to 100", f.Count)}
	}
	return analysis.Options{Args: f.Arg, Count: f.Count, UsesSiteServer: f.SiteServer}, nil
}

// ImportAnalysis converts analyses of Argo Rollouts.
type ImportAnalysis struct {
	importFlags

	File string `arg:"" help:"File with AnalysisTemplates, or - for the standard input. Other objects in it are passed over." predictor:"file"`
}

// Run prints the conversion of the analyses. It returns an error that names each field which cannot be converted, and prints nothing then.
func (i *ImportAnalysis) Run(s *terminal.Streams) error {
	o, err := i.analysisOptions()
	if err != nil {
		return err
	}
	documents, err := readObjectTexts(s.In, i.File)
	if err != nil {
		return err
	}
	c, err := analysis.FromArgoRollouts(documents, o)
	if err != nil {
		return err
	}
	return i.printConversion(s, c, "AnalysisTemplate or ClusterAnalysisTemplate of argoproj.io/v1alpha1 with metrics")
}

// ImportMetricTemplate converts metrics of Flagger.
type ImportMetricTemplate struct {
	importFlags

	Threshold string   `help:"Threshold of a MetricTemplate that no Canary of the files refers to, such as '<= 5'." placeholder:"THRESHOLD"`
	Files     []string `arg:"" help:"Files with MetricTemplates and the Canaries that refer to them, or - for the standard input. Other objects in them are passed over." predictor:"file"`
}

// Run prints the conversion of the metrics. It returns an error that names each field which cannot be converted, and prints nothing then.
func (i *ImportMetricTemplate) Run(s *terminal.Streams) error {
	o, err := i.analysisOptions()
	if err != nil {
		return err
	}
	o.Threshold = i.Threshold
	var all [][]byte
	for _, file := range i.Files {
		documents, err := readObjectTexts(s.In, file)
		if err != nil {
			return err
		}
		all = append(all, documents...)
	}
	c, err := analysis.FromFlagger(all, o)
	if err != nil {
		return err
	}
	return i.printConversion(s, c, "MetricTemplate of flagger.app/v1beta1")
}

// readObjectTexts returns the objects of a file as they are.
func readObjectTexts(in io.Reader, file string) ([][]byte, error) {
	documents, err := manifest.ReadDocuments(in, file)
	out := make([][]byte, 0, len(documents))
	for _, d := range documents {
		out = append(out, d.Text)
	}
	return out, err
}

// printConversion prints the conversion, once our own rules accept it.
func (f importFlags) printConversion(s *terminal.Streams, c *analysis.Conversion, kinds string) error {
	if len(c.Checks) == 0 {
		return errors.Errorf("the file has no %s", kinds)
	}
	parts, err := f.convertedDocuments(c)
	if err != nil {
		return err
	}
	out := []string{}
	for _, part := range parts {
		b, err := terminal.Encode(f.Output, part)
		if err != nil {
			return err
		}
		out = append(out, string(b))
	}
	separator := "---\n"
	if f.Output == "json" {
		separator = ""
	}
	for _, note := range c.Notes {
		if _, err := fmt.Fprintf(s.ErrOut, "kubectl-intent: note: %s\n", terminal.QuoteInvisible(note)); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	_, err = io.WriteString(s.Out, strings.Join(out, separator))
	return errors.Wrap(err, "cannot print")
}

// convertedDocuments returns the documents that a conversion is printed as.
func (f importFlags) convertedDocuments(c *analysis.Conversion) ([]any, error) {
	if f.Into == "checks" {
		return []any{gatesConfigPatch("checks", c.Checks)}, checkConverted(deploymentv1alpha1.GatesConfig{Checks: c.Checks})
	}
	m, err := c.AsMetrics()
	if err != nil {
		return nil, err
	}
	if err := promql.Check(m.Metrics); err != nil {
		return nil, err
	}
	if err := gates.CheckMetrics(m.Metrics); err != nil {
		return nil, err
	}
	return []any{map[string]any{"metrics": m.Metrics}, gatesConfigPatch("sloThresholds", m.Thresholds)}, checkConverted(deploymentv1alpha1.GatesConfig{SLOThresholds: m.Thresholds})
}

// gatesConfigPatch is a merge patch of an IntentDeployment.
func gatesConfigPatch(field string, value any) any {
	return map[string]any{"spec": map[string]any{"gatesConfig": map[string]any{field: value}}}
}

// checkConverted returns an error for gates that an API server, or the function, would refuse in each deployment.
func checkConverted(g deploymentv1alpha1.GatesConfig) error {
	b, err := json.Marshal(map[string]any{
		"apiVersion": manifest.ClaimVersions()[1], "kind": "IntentDeployment", "metadata": map[string]any{"name": "converted", "namespace": "converted"},
		"spec": map[string]any{"expectation": map[string]any{"service": "converted"}, "gatesConfig": g},
	})
	if err != nil {
		return errors.Wrap(err, "cannot encode the checks")
	}
	object, err := manifest.ParseObject(b)
	if err != nil {
		return errors.Wrap(err, "cannot read the checks")
	}
	server, err := admission.New()
	if err != nil {
		return err
	}
	if problems := server.Check(context.Background(), object); len(problems) > 0 {
		return errors.Errorf("the converted file is not valid: %s", problems[0])
	}
	if len(g.Checks) == 0 {
		return nil
	}
	_, err = gates.NewCompiler(0).Compile(gates.Input{Service: "converted", Namespace: "converted", Config: g})
	return errors.Wrap(err, "the converted file is not valid")
}
