package gobench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// recordNamespace exists in each API server.
	recordNamespace = "default"

	// modifications of a record of modifiedPackages are made one after another.
	modifications    = 300
	modifiedPackages = 20

	// recordWriters change one record at once, each so often.
	recordWriters = 16
	writerUpdates = 100

	// manyPackages have revision, commit, digest and dates, which compress badly.
	manyPackages = 10_000
)

// recordSeries are the figures of the records of bundles, on an API server alone.
func recordSeries() *series.Series {
	return &series.Series{Parts: []series.Part{{Figures: []string{"modify", "lost", "bytes"}, Measure: measureRecords}}}
}

// measureRecords measures each figure, also if another one fails.
func measureRecords(ctx context.Context, figures map[string]float64) error {
	cp, err := controlplane.StartServer(ctx)
	if err != nil {
		return err
	}
	config := rest.CopyConfig(cp.Config)
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return errors.Join(errors.Wrap(err, "cannot make client"), cp.Stop())
	}
	var failures []error
	for name, measure := range map[string]func(context.Context, kubernetes.Interface) (float64, error){
		"modify": measureModifyTime, "lost": writersLost, "bytes": largeRecordBytes,
	} {
		value, err := measure(ctx, kube)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		figures[name] = value
	}
	return errors.Join(append(failures, cp.Stop())...)
}

// createRecord makes the record of a bundle with so many packages.
func createRecord(ctx context.Context, kube kubernetes.Interface, name string, packages int) (*state.Client, error) {
	c, err := state.NewClient(kube, state.Options{Namespace: recordNamespace, Writer: "bench"})
	if err != nil {
		return nil, err
	}
	b := state.Bundle{Name: name, Version: "1.0.0"}
	for i := range packages {
		b.Packages = append(b.Packages, state.Package{Name: nameOfPackage(i), Version: fmt.Sprintf("1.%d.0", i), Kind: "IntentDeployment"})
	}
	_, err = c.InitBundleState(ctx, b, state.Deploying)
	return c, err
}

func nameOfPackage(i int) string { return fmt.Sprintf("package-%d", i) }

// measureModifyTime returns the time that a change of a record takes, in milliseconds: the median.
func measureModifyTime(ctx context.Context, kube kubernetes.Interface) (float64, error) {
	c, err := createRecord(ctx, kube, "modified", modifiedPackages)
	if err != nil {
		return 0, err
	}
	took := []float64{}
	for i := range modifications {
		began := time.Now()
		err := c.UpdateBundlePkgState(ctx, "modified", nameOfPackage(i%modifiedPackages), state.Deploying, func(p *state.PkgStatus) { p.Revision++ })
		if err != nil {
			return 0, err
		}
		took = append(took, stats.Milliseconds(time.Since(began)))
	}
	return stats.Median(took), nil
}

// writersLost returns the number of changes that are not in the record that several writers changed at once.
func writersLost(ctx context.Context, kube kubernetes.Interface) (float64, error) {
	g, gctx := errgroup.WithContext(ctx)
	for w := range recordWriters {
		g.Go(func() error {
			c, err := createRecord(gctx, kube, "contended", recordWriters)
			for range writerUpdates {
				if err != nil {
					return err
				}
				err = c.Modify(gctx, "contended", func(s *state.BundleState) error { s.Pkg(nameOfPackage(w)).Revision++; return nil })
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	c, err := createRecord(ctx, kube, "contended", recordWriters)
	if err != nil {
		return 0, err
	}
	s, err := c.GetBundleState(ctx, "contended")
	if err != nil {
		return 0, err
	}
	missing := int64(recordWriters * writerUpdates)
	for _, p := range s.PkgStatuses {
		missing -= p.Revision
	}
	return float64(missing), nil
}

// largeRecordBytes returns the bytes of a Secret for a record of many packages with all fields.
func largeRecordBytes(ctx context.Context, kube kubernetes.Interface) (float64, error) {
	c, err := createRecord(ctx, kube, "large", manyPackages)
	if err != nil {
		return 0, err
	}
	err = c.Modify(ctx, "large", func(s *state.BundleState) error {
		for i := range s.PkgStatuses {
			p := &s.PkgStatuses[i]
			p.Revision, p.Commit, p.Digest = int64(i), hexadecimal(i, 40), "sha256:"+hexadecimal(i, 64)
			p.Status, p.Version, p.WantedVersion = state.Deploying, p.WantedVersion, ""
			p.DependsOn, p.Message = []string{nameOfPackage(i / 2)}, fmt.Sprintf("Revision %d was verified at %d Sites.", i, i%7)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	secret, err := kube.CoreV1().Secrets(recordNamespace).Get(ctx, state.Prefix+"large", metav1.GetOptions{})
	if err != nil {
		return 0, errors.Wrap(err, "cannot get Secret")
	}
	n := 0
	for _, value := range secret.Data {
		n += len(value)
	}
	return float64(n), nil
}

// countWrongPlans returns the number of 10,000 random prune plans that differ from the plans of a naive rule.
func countWrongPlans(ctx context.Context) (float64, error) {
	return benchmark{pkg: "./provider/prune", pattern: "BenchmarkPlan", result: "BenchmarkPlan", unit: "prune_wrong", long: "1x", times: 1}.measureBenchmark(ctx, slices.Max[[]float64])
}

// hexadecimal returns digits that compress as badly as a digest's digits.
func hexadecimal(seed, digits int) string {
	out, x := "", uint64(seed)*0x9e3779b97f4a7c15+uint64(digits)
	for len(out) < digits {
		x ^= x >> 12
		x ^= x << 25
		x ^= x >> 27
		out += fmt.Sprintf("%016x", x*0x2545f4914f6cdd1d)
	}
	return out[:digits]
}
