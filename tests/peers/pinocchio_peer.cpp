// The tasks by Pinocchio: spherical joints in reduced coordinates, accelerations by the articulated-body algorithm.
//
// Pinocchio has no integrators. The two here are what its user would write: semi-implicit Euler, and the Munthe-Kaas form of the
// classical Runge-Kutta method, whose stages are in the tangent space of the step's start.

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Vector3 = Eigen::Vector3d;

// CPU time that runs are repeated for, s; the median counts.
constexpr double TIME = 0.3;
// Step of chains, s.
constexpr double STEP = 1e-3;

static double now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// A tree of bodies on spherical joints. Coordinates: quaternions and angular velocities in body axes, relative to the parent.
struct Chain {
    pin::Model model;
    std::vector<Vector3> centres;
    Vector q, v;

    void add(double mass, Vector3 centre, Vector3 moments, Vector3 at_parent) {
        const pin::SE3 place(Eigen::Matrix3d::Identity(), at_parent);
        const auto name = "joint" + std::to_string(centres.size());
        const auto joint = model.addJoint(centres.size(), pin::JointModelSpherical(), place, name);
        model.appendBodyToJoint(joint, pin::Inertia(mass, centre, moments.asDiagonal().toDenseMatrix()));
        centres.push_back(centre);
    }

    void finish() {
        model.gravity.linear(Vector3(0, 0, -9.81));
        q = pin::neutral(model);
        v = Vector::Zero(model.nv);
    }
};

struct Stepper {
    const pin::Model &model;
    pin::Data data;
    Vector next, torque, turn, rate, w[4], a[4];

    explicit Stepper(const Chain &chain)
        : model(chain.model), data(chain.model), next(chain.q), torque(Vector::Zero(model.nv)), turn(torque), rate(torque) {
        for (int k = 0; k < 4; k++) w[k] = a[k] = torque;
    }

    void euler(Vector &q, Vector &v, double h) {
        v += h * pin::aba(model, data, q, v, torque, pin::Convention::LOCAL);
        turn = h * v;
        pin::integrate(model, q, turn, next);
        q.swap(next);
    }

    void runge_kutta(Vector &q, Vector &v, double h) {
        const double c[4] = {0, 0.5, 0.5, 1};
        w[0] = v;
        a[0] = pin::aba(model, data, q, v, torque, pin::Convention::LOCAL);
        for (int k = 1; k < 4; k++) {
            turn = h * c[k] * w[k - 1];
            rate = v + h * c[k] * a[k - 1];
            pin::integrate(model, q, turn, next);
            a[k] = pin::aba(model, data, next, rate, torque, pin::Convention::LOCAL);
            // Inverse differential of the exponential, to the order of the method.
            for (int j = 0; j < model.nv; j += 3) {
                const Vector3 angle = turn.segment<3>(j), omega = rate.segment<3>(j), x = angle.cross(omega);
                w[k].segment<3>(j) = omega + 0.5 * x + angle.cross(x) / 12;
            }
        }
        turn = h / 6 * (w[0] + 2 * w[1] + 2 * w[2] + w[3]);
        pin::integrate(model, q, turn, next);
        q.swap(next);
        v += h / 6 * (a[0] + 2 * a[1] + 2 * a[2] + a[3]);
    }
};

static void show(const Chain &chain, const char *method, bool is_euler, int steps, double h) {
    Stepper stepper(chain);
    std::vector<double> times;
    Vector q, v;
    for (double sum = 0; sum < TIME; sum += times.back()) {
        q = chain.q;
        v = chain.v;
        const double begin = now();
        for (int n = 0; n < steps; n++) is_euler ? stepper.euler(q, v, h) : stepper.runge_kutta(q, v, h);
        times.push_back(now() - begin);
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"method\":\"%s\",\"steps\":%d,\"seconds\":%.9g,\"bodies\":[", method, steps, times[times.size() / 2]);
    pin::forwardKinematics(chain.model, stepper.data, q, v);
    for (size_t k = 0; k < chain.centres.size(); k++) {
        const pin::SE3 &place = stepper.data.oMi[k + 1];
        const pin::Motion &motion = stepper.data.v[k + 1];
        const Vector3 x = place.act(chain.centres[k]), omega = motion.angular();
        const Vector3 velocity = place.rotation() * (motion.linear() + omega.cross(chain.centres[k]));
        std::printf("%s[%.17g,%.17g,%.17g", k ? "," : "", x[0], x[1], x[2]);
        for (int i = 0; i < 9; i++) std::printf(",%.17g", place.rotation()(i / 3, i % 3));
        for (int i = 0; i < 3; i++) std::printf(",%.17g", velocity[i]);
        for (int i = 0; i < 3; i++) std::printf(",%.17g", omega[i]);
        std::printf("]");
    }
    std::printf("]}\n");
}

int main(int count, char **words) {
    if (count != 3) return 2;
    const std::string task = words[1], size = words[2];
    Chain chain;
    if (task == "top") {
        chain.add(15, Vector3(0, 1, 0), Vector3(0.234375, 0.46875, 0.234375), Vector3::Zero());
        chain.finish();
        chain.v << 0, 150, -4.61538;
        const int steps = size == "1e-6" ? 3560 : 20300;
        show(chain, "articulated bodies, RK4 of one's own", false, steps, 1.0 / steps);
    } else if (task == "pendulum") {
        const double across = 5 * (3 * 0.1 * 0.1 + 1) / 12, along = 5 * 0.1 * 0.1 / 2;
        for (double z : {0.0, 1.0}) chain.add(5, Vector3(0, 0, 0.5), Vector3(across, across, along), Vector3(0, 0, z));
        chain.finish();
        chain.v << 10 * M_PI, 0, 0, 0, 10 * M_PI, 20 * M_PI;
        const int steps = size == "1e-6" ? 1640 : 9800;
        show(chain, "articulated bodies, RK4 of one's own", false, steps, 1.0 / steps);
    } else if (task == "chain" && size != "1000") {
        const int links = std::stoi(size), steps = links == 10 ? 1000 : 500;
        for (int k = 0; k < links; k++)
            chain.add(1, Vector3(0.5, 0, 0), Vector3(1.0 / 120, 1.0 / 12, 1.0 / 12), Vector3(k ? 1 : 0, 0, 0));
        chain.finish();
        show(chain, "articulated bodies, Euler of one's own", true, steps, STEP);
        show(chain, "articulated bodies, RK4 of one's own", false, steps, STEP);
    } else {
        std::puts("{\"method\":\"\",\"cannot\":\"its work space grows with the cube of the number of joints, 12 GiB at 200 of them\"}");
    }
}
