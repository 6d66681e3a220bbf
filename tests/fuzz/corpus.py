#!/usr/bin/env python3
"""Makes the inputs that fuzzing starts from, out of the fixtures and the files of the project.

corpus.py DIRECTORY writes a folder for each target; --few writes only the smallest, which are kept in seeds/.
"""

import argparse
import glob
import gzip
import json
import pathlib
import sqlite3
import tempfile

from code_objects import code_objects
from pftraces import traces

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEY = "rocprofiler-sdk-tool"

WINDOWS = [
    "10%:90%", "12.5%:", ":50%", "+100:+300ns", "+0.1us:-100", "1200:1300", "1.2us:1300ns", ":", "@step",
    "@step/2", "@step:@step/2", '@"a:b"', '@"a:b"/1:90%', ":@step", "+1.5ms:-2 s", "0%:100%", "99.999999999%:",
]
FIELDS = [
    "0,2-5", "7", "1 - 3, 9", "-1", "10us", "1.5ms", ".5us", "2 s", "0.25µs", "1min", "9223372036854775807",
    "0x7f0000000010", "18446744073709551615", "1e3", "nan", "N/A", "-5.5", "Agent 4", "GPU 0", "CPU-1", "NIC_2",
    "graphExec = 0xc3b9a20 | stream = 0x0", "count=1207", '{"size":"12","n":3}', '{"a": NaN, "b": [-inf, "nan"]}',
    '"\\ud83d\\ude00 \\ud83d \\\\ud800"',
]
SETTINGS = [
    'unit = "ms"\nrows = 5\nwide = true\n\n[table]\nname = "short"\n\n[table.top]\nby = ["rank", "gpu"]\nlimit = 1.5\n',
    "rank-from = 'rank(\\d+)'\nthreads = 0x10\nodd = 2024-01-01T00:00:00Z\nx = [[1], {a = nan}]\n",
]
# Records that once were lost, counted wrongly, or read otherwise in other parts.
HARD_RECORDS = [
    b'{"opera}~{\n]\xa9z,}"}]}"}]": 1,"}]},tion": 1,"}]},\n{\xa9z"}]},"}]": 1,"}]},\n{}',
    b'{"operation": 1, "stream_id\xde": 0}},\n{"operation": 2}!,\n{"operation": 3}',
    b'{"operation": 1, "args": [{"name": "a", "name": "b"}]},\n{"operation": 1e999, "args": [1e999]}',
]
RULES = (
    '[[rule]]\ncategory = "communication"\ntokens = ["nccl", "rccl"]\nprefixes = ["mscclpp"]\n'
    '\n[[rule]]\ncategory = "mine"\nregex = ["^my_.*[0-9]+$"]\nnot = ["test"]\nbefore = "communication"\n'
)
KERNELS = [
    '#define KERNEL(n) extern "C" __global__ __launch_bounds__(n)\nKERNEL(256) void k(const float *__restrict__ a, int n = 3) '
    "{ if (n) { a[0]; } }\n",
    "namespace a::b { template <class T, int N = (3 > 2)> requires C<T> && (N > 1) static __global__ void k(T *a, T (&b)[N]) "
    "noexcept { } template <> __global__ void k<int, 4>(int *, int (&)[4]) { } }\n",
    "#ifdef D\n__global__ void k(double *a) {\n#else\n__global__ void k(float a[4][8], void (*f)(int)) {\n#endif\n"
    "char c = '}'; auto r = R\"x(} )\" )x\"; /* } */ }\n",
    "struct S final : public B<int> { __attribute__((global)) void [[x]] k(long unsigned const n, Ts... ts) {}\r\n};\r\n",
    "#define DEFINE(name) __global__ void \\\n name(int a)\nDEFINE(k) { \\\n}\n#define A B B\n#define B A\nA __global__ void l() {}\n",
]
# Requests to the server of `view`.
REQUESTS = [
    b"GET /api/lanes?groups=r0g0,r0&start_ns=-5&end_ns=1000000&pixels=100&path=1 HTTP/1.1\r\nHost: localhost:8000\r\n\r\n",
    b"GET /api/lanes?groups=r0g0&start_ns=0&end_ns=3200000000000000000&pixels=65536&of=base HTTP/1.1\r\nHost: [::1]\r\n\r\n",
    b"GET /api/complete?prefix=SELECT+k.%20FROM%20kernels+AS+k HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n",
    b'POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 41\r\n\r\n{"sql": "SELECT 1", "rows": 5, "of": "new"}',
    b"POST /api/closed?window=a1b2&token=00ff HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 0\r\n\r\nGET",
    b"GET /%2e%2e/?a=%ff&a=&b=%0a#c HTTP/1.1\r\nHost: local\r\nTransfer-Encoding: chunked\r\n\r\n",
]
HEADS = [
    b"", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", b"\0" * 8 + b"DUCK" + b"\0" * 8, b"PAR1\x15\x04",
    b"SQLite for", b'{"traceEvents": []}', b"\xef\xbb\xbf" + b'{"' + KEY.encode() + b'": [',
    b'"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"a",1,2,2,100\n',
    b"Index,KernelName,gpu-id,queue-id\n0,k,1,0\n",
]
LISTINGS = [
    '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"\n2,4096,"; _Z1kv",0,0,0,0,"k()"\n'
    '2,4096,"s_load_dword s0, s[0:1], 0x0",4,16,0,0,"/a/x.h:4 -> /b/k.hip:7"\n2,4104,"s_waitcnt lgkmcnt(0)",4,80,64,0,""\n'
    '2,4108,"global_load_dword v0, v1, s[0:1]",4,16,0,0,"/b/k.hip:8"\n2,4116,"s_waitcnt vmcnt(0) lgkmcnt(1)",4,90,74,0,""\n'
    '2,4120,"s_cbranch_scc1 65532",4,16,0,0,""\n2,4124,"ds_read_b32 v0, v1",1,4,0,0,""\n2,4132,"s_endpgm",1,4,0,0,""\n',
    "CodeObj, Vaddr, Instruction, Hitcount, Latency, Source\n4,8,s_wait_loadcnt_dscnt 0x101,1,4,a.py:1\n4,12,s_branch x,1,4,\n",
    "PC Offset,Hit Count,Total Latency,Stalls,File:Line\n# note\n0x0,8192,200,180,k.hip:0\n0x4,-1,40,5,:\n0x8,1,40\n",
]
CSV = {
    "kernels": '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",'
    '"Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count",'
    '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
    '"KERNEL_DISPATCH","Agent 4",1,2,1560,1,7,"void f<a, ""b"">(int)",3,1000,2000,0,0,8,64,1,1,6400,1,1\n'
    '"KERNEL_DISPATCH","GPU 0",1,0x2,1560,2,7,"g",4,3000,3500,0,0,8,64,1,1,6400,1,1\n',
    "plain": "Kind,Agent_Id,Queue_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp\n"
    "KERNEL_DISPATCH,4,1,1,7,f,3,1000,2000\nKERNEL_DISPATCH,4,1,2,7,g,4,n/a,2.5e3\nKERNEL_DISPATCH,4,x\n",
    "calls": '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    '"HIP_RUNTIME_API","hipLaunchKernel",1560,1560,3,900,950\n"MARKER_CORE_API","step 1",1560,1560,5,10,10\n',
    "counters": '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id",'
    '"Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Counter_Name","Counter_Value",'
    '"Start_Timestamp","End_Timestamp"\n1,1,"Agent 4",1,1560,1560,64,7,"f",64,0,0,8,"SQ_WAVES",12.5,1000,2000\n',
}
KINETO = [
    """{
  "schemaVersion": 1, "distributedInfo": {"rank": 1}, "baseTimeNanoseconds": 1000,
  "traceEvents": [
  {
    "ph": "X", "cat": "kernel", "name": "k<\\"a\\">", "pid": 0, "tid": 7,
    "ts": 12.345, "dur": 1.5,
    "args": {
      "device": 0, "stream": 7, "correlation": 3, "grid": [1, 2, 3], "block": [64, 1, 1]
    }
  },
  {"ph": "s", "id": 3, "cat": "ac2g", "ts": 1},
  {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 9, "tid": 9, "ts": 1, "dur": 0, "args": {"correlation": 3}},
  {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "python"}}
  ],
  "traceName": "x"
}
""",
    '{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","ts":1e3,"dur":2},{"ph":"X","cat":"cpu_op","name":"b,"ts":1,"dur":2},'
    '{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","ts":5,"dur":2,"args":{"bytes":4}}]}',
    # Two lists of events.
    '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "a", "ts": 1, "dur": 2}], "traceEvents": []}',
]
COMPUTE_NATIVE = [
    (
        "dispatch_id,gpu_id,kernel_id,lds_per_workgroup,counter_id,counter_name,counter_value\n"
        "1,4,11,512,3,SQ_WAVES,96\n1,4,11,512,3,SQ_WAVES,32\n2,4,12,0,3,SQ_WAVES,8\n3,4,13,0,3,SQ_WAVES,1\n",
        "dispatch_id,gpu_id,kernel_id,grid_size,workgroup_size,lds_per_workgroup,scratch_per_workitem,start_timestamp,"
        "end_timestamp,correlation_id\n1,4,11,4096,256,512,0,1000,1900,5\n2,4,12,64,64,0,16,2000,2100,6\n",
        "kernel_id,kernel_name,kernel_short_name,arch_vgpr,accum_vgpr,sgpr\n11,copy_kernel,copy_kernel,32,0,48\n12,fill,fill,8,0,16\n",
    ),
    (
        "dispatch_id,counter_name,counter_value\n1,TCC_HIT_sum,1.5e3\n",
        "correlation_id,dispatch_id,kernel_id,gpu_id,start_timestamp,end_timestamp\n0,1,2,0,7,9\n",
        'kernel_id,kernel_name,arch_vgpr,accum_vgpr,sgpr\n2,"void gemm<float, 2>(float*, int)",128,0,96\n',
    ),
]

COMPUTE = {
    "wide": "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,SGPR,wave_size,SQC_DCACHE_REQ,SQ_WAVES,"
    "SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES,wave_size_1,SQC_DCACHE_REQ_READ_1,SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES_1,SQ_WAVES_1,"
    "TCC_HIT[0],Start_Timestamp,End_Timestamp\n"
    '1,"void f<a, ""b"">(int) [clone .kd]",2,64,64,0,16,64,5,6,7,8,64,9,10,11,6.0,1,1000,2000\n'
    "2,g,2,64,64,0,16,64,5,6,7,nan,64,,10,11,7,1,3000,4000\n1,g,2,64,64,0,16,64,x,6,7,8,64,9,10,11,7,1,5000,6000\n",
    "plain": "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,SQ_ACCUM_PREV_HIRES,SQ_BUSY_CYCLES\n"
    "1,k,0,64,64,3,4\n2,k,0,64,64,,4.5\n1,k,0,64,64,3,4\n",
    "long": "GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,"
    "Counter_Value\n2,1,64,64,k,2000,2100,12,SQ_WAVES,1.5\n2,1,64,64,k,1000,1100,12,TCC_HIT_sum,2\n"
    "2,2,64,64,k,3000,3100,12,SQ_WAVES,\n2,2,64,64,l,1200,1300,12,TCC_HIT_sum,3\n",
    "system": "workload_name,command,hostname,gpu_arch,cu_per_gpu,simd_per_cu,max_waves_per_cu,hbm_bw\n"
    'w,"run, now",h,gfx942,304,4,32,5324.8\n',
}


def cut(value, keep):
    """The document with lists of records no longer than `keep`."""
    if isinstance(value, list):
        return [cut(element, keep) for element in value[:keep]]
    if isinstance(value, dict):
        return {key: cut(element, keep) for key, element in value.items()}
    return value


def documents(few):
    for path in sorted(glob.glob(str(ROOT / "fixtures/*_json/**/*.json.gz"), recursive=True)):
        with gzip.open(path) as file:
            document = json.load(file)
        for keep in [1] if few else [1, 2, 5]:
            yield cut(document, keep)


def databases():
    """Databases of few and small pages: rows on several levels, long records, gaps, every type of value."""
    scripts = [
        "CREATE TABLE a (id INTEGER PRIMARY KEY, x, y TEXT, z REAL);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
        "INSERT INTO a SELECT i * 3, i * 100000, 'text ' || i, i * 1.5 FROM n;",
        "CREATE TABLE b (x, y, z); INSERT INTO b VALUES (NULL, x'00ff', 1e300), (-1, hex(zeroblob(300)), 0), (2, 'é', -5);"
        "CREATE TABLE c (id INTEGER PRIMARY KEY, x); INSERT INTO c VALUES (-9223372036854775808, 1), (5, NULL);",
        "CREATE TABLE d (x); CREATE VIEW e AS SELECT * FROM d; CREATE INDEX f ON d (x); INSERT INTO d VALUES (1), (2);",
    ]
    for script in scripts:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.db")
            connection = sqlite3.connect(path)
            connection.execute("PRAGMA page_size = 512")
            connection.executescript(script)
            connection.commit()
            connection.execute("VACUUM")
            connection.close()
            content = bytearray(path.read_bytes())
            # The version of the library that wrote it.
            content[92:100] = bytes(8)
            yield bytes(content)


def names():
    for path in sorted(glob.glob(str(ROOT / "fixtures/**/*.db"), recursive=True)):
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(name for name in tables if name.startswith("rocpd_info_kernel_symbol")):
            for row in connection.execute(f'SELECT kernel_name, display_name FROM "{table}"'):
                yield from (name for name in row if isinstance(name, str))


def corpus(few):
    """Pairs of target and bytes."""
    for text in WINDOWS:
        yield "window", text.encode()
    for path in sorted((ROOT / "fixtures/capture").glob("*.json")):
        yield "capture_files", path.read_bytes()
    blob = {"file": "memory/a", "encoding": "zstd", "chunk_bytes": 4096, "chunks": [[9, "00000000000000ff"], [0, "0123456789abcdef"]]}
    regions = [{"base": 8192, "size": 5000, "blob": blob}, {"base": 4096, "size": 8, "error": "no access"}, {"base": 13200, "size": 1}]
    yield "capture_files", json.dumps({"regions": regions}).encode()
    yield "capture_files", b'{"regions": [{"base": 4096, "size": 8, "handle": 0, "access": 0},\n]}'
    for text in FIELDS:
        yield "fields", text.encode()
    for text in SETTINGS:
        yield "settings", text.encode()
    yield "categories", RULES.encode()
    for head in HEADS:
        yield "head", head
    for request in REQUESTS:
        yield "http_request", request
    for text in LISTINGS:
        yield "att_listing", text.encode()
        yield "head", text.encode()
    if not few:
        for path in sorted(ROOT.glob("fixtures/thread_trace/stats_*.csv")):
            yield "att_listing", path.read_bytes()
    for text in CSV.values():
        yield "csv_rows", text.encode()
        yield "csv_rows", text.replace("\n", "\r\n").encode()
        yield "head", text.encode()
    for files in COMPUTE_NATIVE:
        yield "compute_native", b"\0".join(text.encode() for text in files)
    for text in COMPUTE.values():
        yield "compute_rows", text.encode()
        yield "head", text.encode()
    for code_object in code_objects():
        yield "code_object", code_object
    for text in KERNELS:
        yield "source_kernels", text.encode()
    names_file = ROOT / "fixtures/code_object/names.txt"
    mangled = [line.split("\t")[0] for line in names_file.read_text().splitlines() if not line.startswith("#")]
    for name in mangled[:: 3 if few else 1]:
        yield "mangled_names", name.encode()
    if not few:
        yield "source_kernels", (ROOT / "fixtures/code_object/kernels.hip").read_bytes()
    queries = sorted(ROOT.glob("queries/*/*.sql"))
    for path in sorted((ROOT / "fixtures/source").rglob("*.*")):
        if not few or path.stat().st_size < 1200:
            yield "source_scan", path.read_bytes()
    for path in queries[:3] if few else queries:
        lines = path.read_text().splitlines(keepends=True)
        yield "front_matter", "".join(line for line in lines if line.startswith("--")).encode()
    for database in databases():
        yield "sqlite_pages", database
    for name in sorted(set(names()), key=lambda name: (len(name), name))[: 12 if few else None]:
        yield "kernel_names", name.encode()
    if not few:
        yield "categories", (ROOT / "share/kernel_categories.toml").read_bytes()
        for path in sorted((ROOT / "share/metrics").glob("*.toml")):
            yield "metrics", path.read_bytes()
    for records in HARD_RECORDS:
        yield "json_parts", records
        yield "json_record", records.split(b"\n")[-1]
    for text in KINETO:
        yield "kineto_document", b"\x20" + text.encode()
    for document in kineto_documents(few):
        text = json.dumps(document).encode()
        yield "kineto_document", b"\x20" + text
        yield "head", text[:200]
    for number, document in enumerate(documents(few)):
        if few and number % 5:
            continue
        text = json.dumps(document).encode()
        yield "head", text[:200]
        yield "json_scan", b"\x20" + (text if not few else json.dumps(skeleton(document)).encode())
        for process in document[KEY]:
            records = process.get("buffer_records", {})
            for name in sorted(records):
                for record in records[name][:1]:
                    yield "json_record", json.dumps(record).encode()
            for name in sorted(records):
                if records[name]:
                    yield "json_template", b",\n".join(json.dumps(record).encode() for record in records[name][:4]) + b","
            calls = [record for name in sorted(records) for record in records[name]]
            yield "json_parts", ",\n".join(json.dumps(call) for call in calls[: 3 if few else None]).encode()

    for trace in traces():
        yield "perfetto_document", b"\x20" + trace
        yield "head", trace[:200]


def kineto_documents(few):
    """PyTorch traces of a few events of each category."""
    for path in sorted((ROOT / "fixtures/kineto_two_ranks").rglob("*.json*")):
        content = path.read_bytes()
        document = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        for keep in [1] if few else [1, 3, 8]:
            kept, counts = [], {}
            for event in document["traceEvents"]:
                category = (event.get("ph"), event.get("cat"))
                counts[category] = counts.get(category, 0) + 1
                if counts[category] <= keep:
                    kept.append(event)
            yield {**document, "traceEvents": kept}


def skeleton(document):
    """The document with short records, so that its structure is most of it."""
    for process in document[KEY]:
        process["metadata"] = {"pid": process["metadata"].get("pid")}
        process["agents"] = [{"id": 1}]
        process.pop("summary", None)
        for group in ["buffer_records", "callback_records"]:
            for name, records in process.get(group, {}).items():
                process[group][name] = [{"operation": 1, "x": [{"y": "z}"}]} for _ in records]
        for name in list(process.get("strings", {})):
            process["strings"][name] = cut(process["strings"][name], 1)
        for name in ["code_objects", "kernel_symbols", "host_functions", "counters"]:
            if name in process:
                process[name] = [{"id": 1} for _ in process[name]]
    return document


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("directory", type=pathlib.Path)
    arguments.add_argument("--few", action="store_true", help="only what is kept in seeds/")
    options = arguments.parse_args()
    counts = {}
    for target, content in corpus(options.few):
        number = counts.get(target, 0)
        counts[target] = number + 1
        folder = options.directory / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:03}").write_bytes(content)
    print(" ".join(f"{target}: {count}" for target, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
