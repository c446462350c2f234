/* Sensors of AMD's GPUs: files of the amdgpu driver (kernel documentation, "amdgpu hwmon interfaces" and
 * "pp_dpm_*"). The paths are searched once. See gpu_monitor.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/device/gpu_monitor.h"
#include "client/device/host_monitor.h"

enum { PATH_BYTES = 256, HWMONS = 64 };

typedef struct {
    GpuMonitor base;
    char device[PATH_BYTES]; /* /sys/bus/pci/devices/<bus> */
    char hwmon[PATH_BYTES];  /* its .../hwmon/hwmonN, "" none */
} Amdgpu;

/* The path of a file in a directory; "" where there is no directory. */
typedef struct {
    char text[PATH_BYTES + 64];
} Path;

static Path path_in(const char *dir, const char *file)
{
    Path p = {""};
    if (dir[0]) snprintf(p.text, sizeof p.text, "%s/%s", dir, file);
    return p;
}

static double read_number(const char *dir, const char *file)
{
    return sensor_number(path_in(dir, file).text);
}

/* The current clock is the line with the star: "0: 500Mhz", "1: 1725Mhz *". */
static double dpm_clock(const Amdgpu *m, const char *file)
{
    char text[2048];
    if (!sensor_text(path_in(m->device, file).text, text, sizeof text)) return NAN;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *colon = strchr(line, ':');
        if (colon && strchr(colon, '*')) return strtod(colon + 1, NULL);
    }
    return NAN;
}

static double first_of(double x, double otherwise) { return isnan(x) ? otherwise : x; }

static void amdgpu_read(GpuMonitor *base, DeviceReading *out)
{
    const Amdgpu *m = (const Amdgpu *)base;
    out->temp_c = read_number(m->hwmon, "temp1_input") / 1000;
    out->hotspot_c = read_number(m->hwmon, "temp2_input") / 1000;
    out->clock_sys_mhz = first_of(read_number(m->hwmon, "freq1_input") / 1e6, dpm_clock(m, "pp_dpm_sclk"));
    out->clock_mem_mhz = first_of(read_number(m->hwmon, "freq2_input") / 1e6, dpm_clock(m, "pp_dpm_mclk"));
    out->clock_soc_mhz = dpm_clock(m, "pp_dpm_socclk");
    out->fan_rpm = read_number(m->hwmon, "fan1_input");
    out->power_w =
        first_of(read_number(m->hwmon, "power1_average"), read_number(m->hwmon, "power1_input")) / 1e6;
}

static void amdgpu_free(GpuMonitor *m) { free(m); }

GpuMonitor *amdgpu_monitor_at(const char *root, const char *bus)
{
    Amdgpu *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->base.read = amdgpu_read;
    m->base.free = amdgpu_free;
    snprintf(m->device, sizeof m->device, "%.100s/sys/bus/pci/devices/%.40s", root, bus);
    if (access(m->device, R_OK)) {
        free(m);
        return NULL;
    }
    for (int i = 0; i < HWMONS && !m->hwmon[0]; i++) {
        snprintf(m->hwmon, sizeof m->hwmon, "%.180s/hwmon/hwmon%d", m->device, i);
        if (access(m->hwmon, R_OK)) m->hwmon[0] = 0;
    }
    char path[PATH_BYTES], text[sizeof m->base.driver];
    snprintf(path, sizeof path, "%.100s/sys/module/amdgpu/version", root);
    if (sensor_text(path, text, sizeof text))
        snprintf(m->base.driver, sizeof m->base.driver, "%.*s", (int)strcspn(text, "\n"), text);
    return &m->base;
}

GpuMonitor *amdgpu_monitor_new(const char *bus) { return amdgpu_monitor_at("", bus); }
