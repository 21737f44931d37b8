package storetest

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// This test fails if a new field of store.Status is missing in fullStatus.
func TestAFullHeadHasEveryField(t *testing.T) {
	var check func(path string, v reflect.Value)
	check = func(path string, v reflect.Value) {
		require.False(t, v.IsZero(), "%s is empty", path)
		if v.Kind() != reflect.Struct || v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			check(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	full := fullStatus("d", 1)
	full.Driver = store.Heartbeat{Name: "x", At: noon, Missing: []string{"y"}} // it is not stored with the status
	check("status", reflect.ValueOf(full))
}
