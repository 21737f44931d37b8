package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pack writes all modules at a version to the folder proxy, which can be used as GOPROXY=file:///folder.
func pack(ctx context.Context, proxy, version string) error {
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := m.pack(ctx, proxy, version); err != nil {
			return fmt.Errorf("pack %s: %w", m.path, err)
		}
	}
	return nil
}

func (m *module) pack(ctx context.Context, proxy, version string) error {
	mod, err := m.released(ctx, version)
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC()})
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(m.path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return m.zip(filepath.Join(dir, version+".zip"), version, mod)
}

// zip writes the module's files. Like the go command, it adds the root's license to a nested module without one.
func (m *module) zip(name, version string, mod []byte) error {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	write := func(inside, from string) error {
		data := mod
		if inside != "go.mod" {
			var err error
			data, err = os.ReadFile(filepath.FromSlash(from))
			if err != nil {
				return err
			}
		}
		file, err := w.Create(m.path + "@" + version + "/" + inside)
		if err == nil {
			_, err = file.Write(data)
		}
		return err
	}
	if !slices.Contains(m.files, path.Join(m.dir, "LICENSE")) {
		if err := write("LICENSE", "LICENSE"); err != nil {
			return err
		}
	}
	for _, file := range m.files {
		if err := write(strings.TrimPrefix(file, m.dir+"/"), file); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, archive.Bytes(), 0o644)
}
