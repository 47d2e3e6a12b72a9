// Package process reads the processor time and the memory of processes from the kernel.
package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ClockTicks is the number of the kernel's ticks in a second.
const ClockTicks = 100

// CPUSeconds returns the processor time of a process in seconds.
func CPUSeconds(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, errors.Wrap(err, "cannot read times of process")
	}
	// The name of the program, in parentheses, may hold anything. The times are the twelfth and thirteenth field after it.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 13 {
		return 0, errors.New("the kernel has no times of the process")
	}
	user, err := strconv.ParseFloat(f[11], 64)
	if err != nil {
		return 0, errors.Wrap(err, "cannot parse time of process")
	}
	system, err := strconv.ParseFloat(f[12], 64)
	return (user + system) / ClockTicks, errors.Wrap(err, "cannot parse time of process")
}

// CPUPercent returns the processor time of a process during some work, in percent of one processor.
func CPUPercent(pid int, work func() error) (float64, error) {
	baseline, err := CPUSeconds(pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := work(); err != nil {
		return 0, err
	}
	took := time.Since(began)
	final, err := CPUSeconds(pid)
	return 100 * (final - baseline) / took.Seconds(), err
}

// ResidentMebibytes returns the resident memory of a process in MiB.
func ResidentMebibytes(pid int) (float64, error) { return ReadMemory(pid, "VmRSS") }

// ReadMemory returns the value of a field of the kernel about a process's memory in MiB, such as VmRSS or VmHWM.
func ReadMemory(pid int, field string) (float64, error) {
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
	return 0, errors.Errorf("the kernel has no %s", field)
}

// Wait waits for an interval between two reads. It returns the error of the context if that ends before.
func Wait(ctx context.Context, interval time.Duration) error {
	select {
	case <-time.After(interval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
