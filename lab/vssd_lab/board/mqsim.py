# SPDX-License-Identifier: GPL-2.0-or-later
"""MQSim on the same board: the same loads, set up from the facts of a profile.

Knows MQSim's two files and its report.  It reports mean times, no percentiles,
and reads and writes of one job together.
"""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from vssd.errors import UserError
from vssd.measured.drives import Drive
from vssd.measured.loads import Load, bs_of
from vssd.measured.play import Played
from vssd.sizes import read as size_of

from . import peer
from .peer import REQUESTS, Facts, Peer, number, program_ns

NAME = "mqsim"
SECTOR = 512
LANES = 4
AGED = 75  # percent of the drive that its aging writes: MQSim's own default
SUSPEND = {"off": "NONE", "erase": "ERASE", "program": "PROGRAM",
           "both": "PROGRAM_ERASE"}
CELLS = {"slc": ("SLC", 1), "mlc": ("MLC", 2)}  # others as TLC


def _node(parent: ET.Element, name: str, values: dict[str, object]) \
        -> ET.Element:
    node = ET.SubElement(parent, name)
    for key, value in values.items():
        ET.SubElement(node, key).text = str(value)
    return node


def device(facts: Facts, aged: bool) -> ET.Element:
    """Its configuration file."""
    technology, bits = CELLS.get(facts.get("nand.cell", "tlc"), ("TLC", 3))
    program = program_ns(facts, bits)
    spare = peer.spare(facts)
    root = ET.Element("Execution_Parameter_Set")
    _node(root, "Host_Parameter_Set", {
        "PCIe_Lane_Bandwidth":
            float(facts.get("host.link_mb_s", 4000)) / 1000 / LANES,
        "PCIe_Lane_Count": LANES, "SATA_Processing_Delay": 0,
        "Enable_ResponseTime_Logging": "false",
        "ResponseTime_Logging_Period_Length": 1_000_000})
    node = _node(root, "Device_Parameter_Set", {
        "Seed": 321, "Enabled_Preconditioning": str(aged).lower(),
        "Memory_Type": "FLASH", "HostInterface_Type": "NVME",
        "IO_Queue_Depth": 65535, "Queue_Fetch_Size": 512,
        "Caching_Mechanism": "ADVANCED", "Data_Cache_Sharing_Mode": "SHARED",
        "Data_Cache_Capacity": size_of(
            "buffer.size", facts.get("buffer.size", "32MiB"), 0, 2**40),
        "Data_Cache_DRAM_Row_Size": 8192, "Data_Cache_DRAM_Data_Rate": 800,
        "Data_Cache_DRAM_Data_Busrt_Size": 1, "Data_Cache_DRAM_tRCD": 13,
        "Data_Cache_DRAM_tCL": 13, "Data_Cache_DRAM_tRP": 13,
        "Address_Mapping": "PAGE_LEVEL", "Ideal_Mapping_Table": "true",
        "CMT_Capacity": 2**30, "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": "CWDP",
        "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
        "Overprovisioning_Ratio": f"{spare / (1 + spare):.4f}",
        "GC_Exec_Threshold": 0.05, "GC_Block_Selection_Policy": "GREEDY",
        "Use_Copyback_for_GC": "false", "Preemptible_GC_Enabled": "true",
        "GC_Hard_Threshold": 0.005, "Dynamic_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": 100,
        "Preferred_suspend_erase_time_for_read": 100_000,
        "Preferred_suspend_erase_time_for_write": 700_000,
        "Preferred_suspend_write_time_for_read": 100_000,
        "Flash_Channel_Count": number(facts, "nand.channels"),
        "Flash_Channel_Width": 1,
        "Channel_Transfer_Rate": number(facts, "nand.bus_mt_s", 400),
        "Chip_No_Per_Channel": number(facts, "nand.chips"),
        "Flash_Comm_Protocol": "NVDDR2"})
    pages = {f"Page_Read_Latency_{p}": peer.ns(facts, "nand.read")
             for p in ("LSB", "CSB", "MSB")}
    _node(node, "Flash_Parameter_Set", {
        "Flash_Technology": technology, "CMD_Suspension_Support":
            SUSPEND.get(facts.get("nand.suspend", "off"), "NONE"),
        **pages, **{f"Page_Program_Latency_{p}": program
                    for p in ("LSB", "CSB", "MSB")},
        "Block_Erase_Latency": peer.ns(facts, "nand.erase"),
        "Block_PE_Cycles_Limit": 100_000, "Suspend_Erase_Time": 10_000,
        "Suspend_Program_Time": 10_000,
        "Die_No_Per_Chip": number(facts, "nand.dies"),
        "Plane_No_Per_Die": number(facts, "nand.planes"),
        "Block_No_Per_Plane": number(facts, "nand.blocks"),
        "Page_No_Per_Block": number(facts, "nand.pages"),
        "Page_Capacity": size_of("nand.page_size",
                                 facts.get("nand.page_size", "16KiB"), 0,
                                 2**30),
        "Page_Metadat_Capacity": 1872})
    return root


def _places(facts: Facts) -> dict[str, str]:
    """All planes."""
    return {f"{name}_IDs": ",".join(map(str, range(int(facts.get(key, 1)))))
            for name, key in (("Channel", "nand.channels"),
                              ("Chip", "nand.chips"), ("Die", "nand.dies"),
                              ("Plane", "nand.planes"))}


def _flow(facts: Facts, job: dict[str, str], bs: int, aged: bool,
          seed: int) -> dict[str, object]:
    """A job of one kind of requests."""
    rate = float(job.get("rate_iops", 0))
    return {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "WRITE_CACHE", **_places(facts),
        "Initial_Occupancy_Percentage": AGED if aged else 0,
        "Working_Set_Percentage": AGED if aged else 100,
        "Synthetic_Generator_Type": "BANDWIDTH" if rate else "QUEUE_DEPTH",
        "Read_Percentage": 100 if job["rw"].endswith("read") else 0,
        "Address_Distribution": "RANDOM_UNIFORM"
            if job["rw"].startswith("rand") else "STREAMING",
        "Percentage_of_Hot_Region": 0, "Generated_Aligned_Addresses": "true",
        "Address_Alignment_Unit": 8, "Request_Size_Distribution": "FIXED",
        "Average_Request_Size": bs // SECTOR, "Variance_Request_Size": 0,
        "Seed": seed,
        "Average_No_of_Reqs_in_Queue": int(float(job.get("iodepth", 1))),
        "Bandwidth": int(rate * bs), "Stop_Time": 0,
        "Total_Requests_To_Generate": REQUESTS}


def _scenario(kind: str, flows: list[dict[str, object]]) -> ET.Element:
    """Flows of a kind, side by side."""
    root = ET.Element("MQSim_IO_Scenarios")
    node = ET.SubElement(root, "IO_Scenario")
    for flow in flows:
        _node(node, f"IO_Flow_Parameter_Set_{kind}", flow)
    return root


def trace(facts: Facts, path: Path) -> ET.Element:
    """A load that is a text of the form of vssd.build.inputs, of which no page
    stays in DRAM."""
    return _scenario("Trace_Based", [{
        "Priority_Class": "HIGH", "Device_Level_Data_Caching_Mode": "TURNED_OFF",
        **_places(facts), "Initial_Occupancy_Percentage": 0, "File_Path": path,
        "Percentage_To_Be_Executed": 100, "Relay_Count": 1,
        "Time_Unit": "NANOSECOND"}])


def files(folder: Path, drive: ET.Element, load: ET.Element) \
        -> tuple[list[str], Path]:
    """Write both files: the program's arguments, and where its report will be."""
    ET.ElementTree(drive).write(folder / "ssd.xml")
    ET.ElementTree(load).write(folder / "load.xml")
    return (["-i", str(folder / "ssd.xml"), "-w", str(folder / "load.xml")],
            folder / "load_scenario_1.xml")


def _jobs(load: Load) -> list[str]:
    """The jobs of a load, each of one kind."""
    if load.kind == "mixed":
        reads, writes = peer.mixed_rates(load)
        return [f"rw=randread bs=4k rate_iops={reads:.0f}",
                f"rw=randwrite bs=4k rate_iops={writes:.0f}"]
    jobs = [j for j in (load.workload, load.beside) if j]
    if load.kind not in ("run", "pair") or any("mix" in j for j in jobs):
        raise UserError(f"{NAME} reports no such run")
    return jobs


def report(text: str, jobs: list[str]) -> Played:
    """Rates and means of the jobs, in their order.  MQSim's own rates divide by
    whole seconds: a closed loop has its depth over the mean, an open one that
    ended has its own."""
    out: Played = {"read": None, "write": None, "waf": None,
                   "without": "percentiles"}
    flows = ET.fromstring(text).iter("Host.IO_Flow")
    for flow, job in zip(flows, jobs, strict=True):
        words = dict(w.split("=") for w in job.split())
        mean = max(float(flow.findtext("Device_Response_Time") or 0), 0.5)
        iops = float(words["rate_iops"]) if "rate_iops" in words else \
            float(words["iodepth"]) * 1e6 / mean
        out["read" if words["rw"].endswith("read") else "write"] = {
            "n": REQUESTS, "iops": iops, "mean_us": mean, "percentiles": {}}
    return out


def requests(text: str) -> int:
    """How many of a report's requests ended."""
    return sum(int(flow.findtext("Request_Count") or 0)
               for flow in ET.fromstring(text).iter("Host.IO_Flow"))


class MqSim(Peer):
    """MQSim's binary."""

    name = NAME

    def run(self, drive: Drive, load: Load) -> Played:
        """One load."""
        facts, jobs = peer.facts_of(drive), _jobs(load)
        aged = load.state.startswith("random") and \
            any("write" in job for job in jobs)
        flows = [_flow(facts, dict(w.split("=") for w in job.split()), bs_of(job),
                       aged, seed) for seed, job in enumerate(jobs, 798)]
        with tempfile.TemporaryDirectory(prefix="vssd-board-") as folder:
            args, done = files(Path(folder), device(facts, aged),
                               _scenario("Synthetic", flows))
            self.states.runner.output([str(self.program), *args])
            if not done.is_file():
                raise UserError(f"{NAME} could not play it")
            return report(done.read_text(encoding="utf-8"), jobs)
