/* Host sensors. The paths are searched once; machines without sensors (most virtual ones) give NAN. */
#include "client/device/host_monitor.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

bool sensor_text(const char *path, char *text, size_t size)
{
    int fd = path[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = '\0';
    return true;
}

double sensor_number(const char *path)
{
    char text[64], *end;
    if (!sensor_text(path, text, sizeof text)) return NAN;
    double x = strtod(text, &end);
    return end == text ? NAN : x;
}

static bool set_path(char *path, const char *root, const char *fmt, int i)
{
    char tail[MONITOR_PATH];
    snprintf(tail, sizeof tail, fmt, i);
    int n = snprintf(path, MONITOR_PATH, "%s%s", root, tail);
    if (n < MONITOR_PATH && !isnan(sensor_number(path))) return true;
    path[0] = '\0';
    return false;
}

/* The thermal zone of the CPU package where one has that type, else the first readable zone. */
static void find_temperature(HostMonitor *m, const char *root)
{
    enum { ZONES = 32 };
    for (int i = 0; i < ZONES; i++) {
        char type[MONITOR_PATH], text[64], path[MONITOR_PATH];
        if (!set_path(path, root, "/sys/class/thermal/thermal_zone%d/temp", i)) continue;
        snprintf(type, sizeof type, "%.70s/sys/class/thermal/thermal_zone%d/type", root, i);
        bool package = sensor_text(type, text, sizeof text) && !strncmp(text, "x86_pkg_temp", 12);
        if (package || !m->temp[0]) snprintf(m->temp, sizeof m->temp, "%s", path);
        if (package) return;
    }
    for (int i = 0; i < ZONES && !m->temp[0]; i++) {
        char path[MONITOR_PATH], name[MONITOR_PATH], text[64];
        snprintf(name, sizeof name, "%.70s/sys/class/hwmon/hwmon%d/name", root, i);
        if (!sensor_text(name, text, sizeof text)) continue;
        if (strncmp(text, "coretemp", 8) && strncmp(text, "k10temp", 7)) continue;
        if (set_path(path, root, "/sys/class/hwmon/hwmon%d/temp1_input", i))
            snprintf(m->temp, sizeof m->temp, "%s", path);
    }
}

void host_monitor_init(HostMonitor *m, const char *root)
{
    *m = (HostMonitor){0};
    set_path(m->clock, root, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", 0);
    set_path(m->energy, root, "/sys/class/powercap/intel-rapl:%d/energy_uj", 0);
    find_temperature(m, root);
}

int host_monitor_max_clock(const HostMonitor *m)
{
    char path[MONITOR_PATH + 32];
    if (!m->clock[0]) return 0;
    snprintf(path, sizeof path, "%.*s/cpuinfo_max_freq", (int)(strrchr(m->clock, '/') - m->clock), m->clock);
    double khz = sensor_number(path);
    return khz > 0 && khz < 1e8 ? (int)(khz / 1000) : 0;
}

void host_monitor_read(HostMonitor *m, DeviceReading *out)
{
    *out = DEVICE_READING_NONE;
    out->clock_sys_mhz = sensor_number(m->clock) / 1000;
    out->temp_c = sensor_number(m->temp) / 1000;
    double energy = sensor_number(m->energy);
    uint64_t now = clock_ns();
    if (!isnan(energy)) {
        /* The counter wraps: a smaller value gives no reading. */
        if (m->last_ns && now > m->last_ns && energy >= m->last_energy_uj)
            out->power_w = (energy - m->last_energy_uj) * 1000 / (double)(now - m->last_ns);
        m->last_energy_uj = energy;
        m->last_ns = now;
    }
}
