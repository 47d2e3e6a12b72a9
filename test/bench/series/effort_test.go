package series

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// writeProcess writes the times of a process, in ticks, as the kernel shows them.
func writeProcess(t *testing.T, root string, pid, parent, ticks, ticksOfEnded int) {
	t.Helper()
	dir := filepath.Join(root, strconv.Itoa(pid))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	stat := fmt.Sprintf("%d (a program) S %d 0 0 0 -1 0 0 0 0 0 %d 0 %d 0%s", pid, parent, ticks, ticksOfEnded, strings.Repeat(" 0", 35))
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReadBusy reads the times of processors on a machine with three processes of a measurement and one of another program.
func TestReadBusy(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "stat"), []byte("cpu  1000 100 500 9000 0 50 50 300 0 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	writeProcess(t, root, 10, 1, 100, 200)
	writeProcess(t, root, 11, 10, 300, 0)
	writeProcess(t, root, 12, 11, 50, 50)
	writeProcess(t, root, 20, 1, 900, 0)
	fs, err := procfs.NewFS(root)
	if err != nil {
		t.Fatal(err)
	}
	all, process, err := readBusySeconds(fs, 10)
	if err != nil || all != 20 || process != 7 {
		t.Errorf("A measurement counts with its descendants, also with ended descendants, and an idle processor is not busy: want 20 and 7 seconds, got %v and %v, %v", all, process, err)
	}
}
