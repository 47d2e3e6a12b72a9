package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// providerMemory returns the memory of the provider's process once the claims are delivered, from this field of the kernel.
func (s *stage) providerMemory(field string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if _, err := s.claimLatencies(ctx); err != nil {
			return 0, err
		}
		return s.readProcessMemory(field)
	}
}

// readProcessMemory returns the present memory of the provider's process.
func (s *stage) readProcessMemory(field string) (float64, error) {
	return readMemoryOf(s.cp.ProviderPID(), field)
}

// residentMebibytes returns the resident memory of a process.
func residentMebibytes(pid int) (float64, error) { return readMemoryOf(pid, "VmRSS") }

func readMemoryOf(pid int, field string) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errors.Wrap(err, "cannot read memory of process")
	}
	return parseMebibytes(string(b), field)
}

func parseMebibytes(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if name != field {
			continue
		}
		kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		return kib / 1024, errors.Wrapf(err, "cannot parse %s", field)
	}
	return 0, errors.Errorf("the kernel does not say %s", field)
}
